"""Methods written against the array API alone, for rows on a GPU or in another array library."""
