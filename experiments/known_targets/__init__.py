"""Targets with known answers, sampled with defaults only: are the automatic settings good?"""
