"""The figures of the handouts: one module a lab, each with FIGURES = {file name: function}."""
