package model_test

var retryCases = cases{}
