"""Debiasing methods compared over runs: fronts, DTO, AUC-PFC, selection."""
