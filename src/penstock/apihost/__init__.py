"""Hosting of APIs: packages installed, their ASGI applications run in processes of their own, requests passed on."""
