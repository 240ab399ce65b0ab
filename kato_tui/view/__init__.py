"""Pure functions from records to what a person sees: cleaned, cut to size, never parsed as markup."""
