// Package chart holds the Helm chart (odarchive), a chart that puts a NATS cluster beside it (with-nats), and their
// tests.
//
// golden has what "helm template" makes of the values in odarchive/examples. The tests compare them where helm is
// installed, decode them as Kubernetes does (objects, a module of its own), and parse the expressions of alerts and
// dashboards as Prometheus does (rules, likewise). Run "make test-chart" for all of it: it builds helm.
package chart
