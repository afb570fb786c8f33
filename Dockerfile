# Aliquot in a container: no shell, no package manager, not root. docs/deploy.md says how to run it.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -buildid=' -o /image/usr/bin/aliquot ./cmd/aliquot
RUN mkdir -p /image/var/lib/aliquot

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build --chown=65532:65532 /image/var/lib /var/lib
COPY --from=build /image/usr /usr
ENV ALIQUOT_ADDR=:8080 ALIQUOT_DATA=/var/lib/aliquot ALIQUOT_LOG=json
EXPOSE 8080
VOLUME /var/lib/aliquot
USER 65532:65532
ENTRYPOINT ["/usr/bin/aliquot"]
CMD ["serve"]
