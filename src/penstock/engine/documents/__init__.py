"""Documents: .dib, .ipynb and .py in percent form, as cells that run in kernels."""
