# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # A report
# Of what was sold.

# %% tags=["parameters"]
limit: float = 0.5
label = "all"

# %%
rows = [0.2, 0.7, 0.9]

# %% Result
{"label": label, "above": [row for row in rows if row > limit]}
