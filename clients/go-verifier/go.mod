module countersign-verifier-go

go 1.21
