package model_test

var gatewayCases = cases{}
