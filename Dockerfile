# docker build -t trireme .
# docker run --rm --shm-size 1g -v "$PWD:/work" trireme train --model lenet5 --data fashion-mnist --epochs 2

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make
COPY . /src
WORKDIR /src
RUN git config --global --add safe.directory /src && make deb

FROM debian:bookworm-slim
COPY --from=build /src/build-deb/trireme_*.deb /tmp/
RUN apt-get update && apt-get install -y /tmp/trireme_*.deb && rm -rf /tmp/trireme_*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["trireme"]
CMD ["--help"]
