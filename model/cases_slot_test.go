package model_test

var slotCases = cases{}
