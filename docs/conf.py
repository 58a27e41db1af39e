"""Sphinx: ``make docs`` builds the documentation, without a warning and without a network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import thetahat
from docs import generate_pages, pictures
from docs.mathematics import pages as formulas

project = "thetahat"
author = "The thetahat developers"
copyright = author
version = release = thetahat.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build"]
default_role = "py:obj"

autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/gallery/{section}" for section in pictures.SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("thetahat",),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = "thetahat"
html_static_path = ["_static"]
html_css_files = ["thetahat.css"]
html_copy_source = False


def setup(app):
    app.connect("builder-inited", lambda app: generate_pages.write_all(Path(app.srcdir)))
    formulas.setup(app)
