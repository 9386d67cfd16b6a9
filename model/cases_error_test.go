package model_test

var errorCases = cases{}
