package model_test

var scriptedCases = cases{}
