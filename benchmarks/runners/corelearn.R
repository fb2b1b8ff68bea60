# One ranking in one fresh process, as run_peer.py does it, for CORElearn.
#
#     Rscript corelearn.R FOLDER METHOD N_NEIGHBORS THREADS REPEATS SECONDS
#
# FOLDER holds X.npy, y.npy and categorical.npy, all float64. The number of threads reaches OpenMP through
# OMP_NUM_THREADS, which the caller sets. The last line printed is the answer, as JSON.

main <- function(folder, method, n_neighbors, threads, repeats, seconds) {
  started <- proc.time()[["elapsed"]]
  suppressMessages(library(CORElearn))
  data <- read_table(folder, nominal_target = method != "RReliefF")
  rank <- ranking(data, method, as.integer(n_neighbors))
  invisible(gc())
  ready_s <- proc.time()[["elapsed"]] - started
  measure(rank, ready_s, as.integer(repeats), as.numeric(seconds))
}

# Without its ramp and over all instances, so that the numbers mean what they mean elsewhere.
ranking <- function(data, method, n_neighbors) {
  function() {
    if (method == "RReliefF")
      attrEval("target", data, "RReliefFexpRank", ReliefIterations = 0, kNearestExpRank = n_neighbors,
               quotientExpRankDistance = 20, numAttrProportionEqual = 0, numAttrProportionDifferent = 1)
    else
      attrEval("target", data, "ReliefFequalK", ReliefIterations = 0, kNearestEqual = n_neighbors,
               numAttrProportionEqual = 0, numAttrProportionDifferent = 1)
  }
}

measure <- function(rank, ready_s, repeats, seconds) {
  before <- resident_mib("VmRSS")
  was_reset <- reset_peak()
  fits <- system.time(scores <- rank())[["elapsed"]]
  memory <- resident_mib("VmHWM") - before
  while (length(fits) <= repeats && (if (length(fits) == 1) fits else sum(fits) + min(fits)) < seconds)
    fits <- c(fits, system.time(rank())[["elapsed"]])
  top <- order(-scores)[1:2]
  cat(sprintf(paste0(
    '{"status": "ok", "versions": {"CORElearn": "%s", "R": "%s"}, "note": "", "ready_s": %.3f, "fits_s": [%s], ',
    '"rss_before_mib": %.2f, "memory_mib": %.2f, "peak_was_reset": %s, "top": [[%d, %.6f], [%d, %.6f]]}\n'),
    packageVersion("CORElearn"), getRversion(), ready_s, paste(sprintf("%.4f", fits), collapse = ", "),
    before, memory, if (was_reset) "true" else "false",
    top[1] - 1, scores[[top[1]]], top[2] - 1, scores[[top[2]]]))
}

read_table <- function(folder, nominal_target) {
  X <- read_npy(file.path(folder, "X.npy"))
  categorical <- read_npy(file.path(folder, "categorical.npy")) > 0
  data <- as.data.frame(X)
  data[categorical] <- lapply(data[categorical], factor)
  target <- as.vector(read_npy(file.path(folder, "y.npy")))
  data$target <- if (nominal_target) factor(target) else target
  data
}

# A .npy file of version 1: six bytes of magic, two of version, two of header length, the header, the numbers.
read_npy <- function(path) {
  file <- file(path, "rb")
  on.exit(close(file))
  readBin(file, "raw", 8)
  header <- rawToChar(readBin(file, "raw", readBin(file, "integer", 1, size = 2, endian = "little")))
  shape_text <- sub(".*shape", "", header)
  shape <- as.numeric(regmatches(shape_text, gregexpr("[0-9]+", shape_text))[[1]])
  values <- readBin(file, "double", prod(shape), endian = "little")
  if (length(shape) == 2) matrix(values, shape[1], shape[2], byrow = TRUE) else values
}

resident_mib <- function(field) {
  if (!file.exists("/proc/self/status")) return(0)
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

reset_peak <- function() {
  tryCatch({ cat("5", file = "/proc/self/clear_refs"); TRUE }, error = function(e) FALSE, warning = function(w) FALSE)
}

do.call(main, as.list(commandArgs(trailingOnly = TRUE)))
