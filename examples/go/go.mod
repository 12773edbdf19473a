module sonde_example

go 1.19
