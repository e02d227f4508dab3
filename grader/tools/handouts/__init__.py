"""The figures of the handouts: one module per lab, each with FIGURES = {file name: function}."""
