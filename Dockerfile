# docker build -t sonde . && docker run --rm -p 6006:6006 -v "$PWD/logs:/logs:ro" sonde
# The address with its token is printed; docs/install.md says more. tools/fresh_machine --dockerfile runs these steps without an engine.
FROM debian:12-slim AS build
WORKDIR /sonde
COPY . /sonde
RUN ./run --build
RUN strip --strip-unneeded build/release/sonde

FROM debian:12-slim
COPY --from=build /sonde/build/release/sonde /usr/bin/sonde
COPY --from=build /sonde/LICENSES /usr/share/doc/sonde/LICENSES
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin sonde
USER sonde
EXPOSE 6006
ENTRYPOINT ["/usr/bin/sonde"]
CMD ["--logdir", "/logs", "--read_only", "--bind_all", "--port", "6006"]
