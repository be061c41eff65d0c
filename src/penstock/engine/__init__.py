"""The interactive engine: Jupyter kernels that run what users write, apart from the server."""
