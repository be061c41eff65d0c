"""Jupyter notebooks in forms that Jupyter reads and does not write itself."""

LOOSE = (
    '\ufeff{\r\n    "nbformat_minor": 9,\r\n    "future": [1.0, 1E3, 12345678901234567890, "\\/"],\r\n'
    '    "cells": [ {"cell_type": "code", "metadata": {}, "extra": null, "outputs": [{"output_type": "stream"}],'
    ' "execution_count": 1, "source": "1"} , {"cell_type":"markdown","id":"dup","metadata":{},"source":[]},\r\n'
    ' {"cell_type":"markdown","id":"dup","metadata":{},"source":["two\\n"]},'
    ' {"cell_type": "new", "metadata": {}} ],\r\n'
    '    "nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}\r\n}\r\n'
)
"""Of a later version: a byte order mark, unknown fields, numbers in their own way, an id that is there twice."""

WORKSHEETS = """{
 "metadata": {"name": ""},
 "nbformat": 3,
 "nbformat_minor": 0,
 "worksheets": [
  {"cells": [{"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Old"]}], "metadata": {}},
  {"cells": [{"cell_type": "code", "collapsed": false, "input": ["1 + 1"], "language": "python", "metadata": {},
    "outputs": []}]}
 ]
}
"""
"""Of version 3, whose cells are in worksheets."""
