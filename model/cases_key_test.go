package model_test

var keyCases = cases{}
