from lab32.drawings import coalescing
from lab32.svg import Drawing


def test_patterns_touch_what_the_documents_say():
    wanted = {"add1": 4, "add2": 5, "add3": 4, "add4": 1, "add5": 16}
    for name, (_, word_of) in coalescing.PATTERNS.items():
        words = [word_of(lane) for lane in range(32)]
        drawing = Drawing(100, 100, "")
        touched = coalescing.warp(drawing, 0, 0, 100, words, max(words) // 8)
        assert len(touched) == wanted[name]
        assert sum("<line" in part for part in drawing.parts) == 32


def test_text_is_escaped():
    drawing = Drawing(10, 10, "a < b")
    drawing.text(0, 0, "x[i] & y")
    assert "a &lt; b" in str(drawing) and "x[i] &amp; y" in str(drawing)
