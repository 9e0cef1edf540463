# Recomputes every number of summary.json from the CSV files of this folder, and compares.
#
# Usage: Rscript analysis.R [folder]
#
# Base R only. It shares no code with the program that wrote the files. Davidson's model is fitted
# as a Poisson model by glm, the trends by glm and lm, the slopes of James's index by complex
# steps. Every interval of the bootstrap begins at the first number of
#   set.seed(seed, kind = "L'Ecuyer-CMRG"); runif(n)
# Writes numbers_r.csv beside numbers.csv and ends with status 1 if a number differs by more than
# 1e-9 (1e-6 for fitted models), measured against the larger of 1 and the number.

options(stringsAsFactors = FALSE, digits = 17, OutDec = ".")
WORDS <- c("first", "second", "tie")
STRATA <- c("both", "only_a", "only_b", "neither", "unknown")
FORMS <- c("2d", "3d", "text")
ORDERS <- list(
  stratum = STRATA, family = character(), form = FORMS, split = c("id", "held-out"),
  anatomy = character(), difficulty = c("easy", "moderate", "hard", "very_hard"),
  overlap = c("none", "some", "near_duplicate", "same_set", "identical"),
  stratum_form = as.vector(t(outer(STRATA, FORMS, paste, sep = ":"))),
  task = character(), rater = character()
)
PERMUTATIONS <- 10000
Z <- qnorm(0.975)
REACH <- Z + qnorm(0.8)  # what 80 % power finds, in standard errors

numbers <- new.env()
numbers$name <- list()
numbers$value <- list()

# Keep numbers under a path: put("a", n = 1) is a/n. (A parameter called name would take n.)
put <- function(.path, ...) {
  given <- list(...)
  for (key in names(given)) {
    value <- given[[key]]
    place <- length(numbers$name) + 1
    numbers$name[[place]] <- if (nzchar(.path)) paste(.path, key, sep = "/") else key
    numbers$value[[place]] <- if (length(value)) as.numeric(value)[1] else NA_real_
  }
  invisible(NULL)
}

inside <- function(name, part) paste(name, part, sep = "/")
sorted <- function(words) sort(unique(words), method = "radix")  # by code, not by language

# -- plain counting ----------------------------------------------------------------------------

# Wilson's interval (1927).
wilson <- function(count, n) {
  p <- count / n
  centre <- (p + Z^2 / (2 * n)) / (1 + Z^2 / n)
  half <- Z / (1 + Z^2 / n) * sqrt(p * (1 - p) / n + Z^2 / (4 * n^2))
  c(if (count == 0) 0 else centre - half, if (count == n) 1 else centre + half)
}

share <- function(name, count, n) {
  bounds <- if (n == 0) c(NA, NA) else wilson(count, n)
  put(name, count = count, n = n, share = if (n == 0) NA else count / n, low = bounds[1],
      high = bounds[2])
}

keep_test <- function(name, statistic, df, p, n, p_holm = NA) {
  put(name, statistic = statistic, df = df, p = p, n = n, p_holm = p_holm)
}

# Exact and two-sided; no p-value below ten.
sign_p <- function(first, second) {
  n <- first + second
  if (n < 10) NA else min(1, 2 * pbinom(min(first, second), n, 0.5))
}

sign_test <- function(name, first, second, p_holm = NA) {
  keep_test(name, first, NA, sign_p(first, second), first + second, p_holm)
}

estimate <- function(name, value, low, high, n) put(name, value = value, low = low, high = high, n = n)

# -- bootstrap: tasks, then the items drawn in them ----------------------------------------------

stream <- new.env()
stream$held <- numeric()

# The first n numbers of the stream; made once, made again when more are needed.
uniform <- function(n) {
  if (n > length(stream$held)) {
    set.seed(stream$seed, kind = "L'Ecuyer-CMRG")
    stream$held <- runif(ceiling(1.2 * n) + 1000)
  }
  stream$held[seq_len(n)]
}

# Items with their sums, sorted by task, then item.
items_of <- function(task, item, value) {
  place <- order(task, item, method = "radix")
  task <- task[place]; item <- item[place]; value <- value[place]
  new <- c(TRUE, task[-1] != task[-length(task)] | item[-1] != item[-length(item)])
  group <- cumsum(new)
  task <- task[new]
  list(top = as.vector(rowsum(value, group)), bottom = as.vector(rowsum(rep(1, length(group)), group)),
       task = cumsum(c(TRUE, task[-1] != task[-length(task)])))
}

# Percentile, BCa and tasks-only interval of the mean of the values.
bootstrap <- function(names, task, item, value) {
  n <- length(value)
  whole <- function(value) for (name in names) estimate(name, value, NA, NA, n)
  if (n == 0) return(whole(NA))
  held <- items_of(task, item, value)
  mean_value <- sum(held$top) / sum(held$bottom)
  ratio <- held$top / held$bottom
  if (max(ratio) == min(ratio)) return(whole(mean_value))
  found <- two_stages(held)
  bounds <- quantile(found, c(0.025, 0.975), names = FALSE)
  estimate(names[1], mean_value, bounds[1], bounds[2], n)
  if (length(names) == 3) {
    bounds <- bca(found, mean_value, held)
    estimate(names[2], mean_value, bounds[1], bounds[2], n)
    bounds <- tasks_only(held)
    estimate(names[3], mean_value, bounds[1], bounds[2], n)
  }
}

# draws * T numbers choose the tasks of all draws; then, draw by draw and task by task as drawn,
# one number for each item of the task chooses an item.
two_stages <- function(held) {
  sizes <- tabulate(held$task); count <- length(sizes)
  begin <- cumsum(sizes) - sizes
  picks <- floor(uniform(stream$draws * count) * count) + 1
  m <- rep(sizes[picks], sizes[picks])
  numbers <- uniform(length(picks) + length(m))[-seq_along(picks)]
  chosen <- floor(numbers * m) + 1 + rep(begin[picks], sizes[picks])
  draw <- rep(rep(seq_len(stream$draws), each = count), sizes[picks])
  as.vector(rowsum(held$top[chosen], draw)) / as.vector(rowsum(held$bottom[chosen], draw))
}

tasks_only <- function(held) {
  count <- max(held$task)
  if (count == 1) return(c(NA, NA))
  top <- as.vector(rowsum(held$top, held$task)); bottom <- as.vector(rowsum(held$bottom, held$task))
  picks <- matrix(floor(uniform(stream$draws * count) * count) + 1, nrow = count)
  found <- colSums(matrix(top[picks], nrow = count)) / colSums(matrix(bottom[picks], nrow = count))
  if (max(found) == min(found)) c(NA, NA) else quantile(found, c(0.025, 0.975), names = FALSE)
}

# Efron's interval; the acceleration leaves out one task at a time (one item of a single task).
bca <- function(found, value, held) {
  below <- (mean(found < value) + mean(found <= value)) / 2
  if (below <= 0 || below >= 1) return(c(NA, NA))
  top <- held$top; bottom <- held$bottom
  if (max(held$task) > 1) {
    top <- as.vector(rowsum(top, held$task)); bottom <- as.vector(rowsum(bottom, held$task))
  }
  without <- (sum(top) - top) / (sum(bottom) - bottom)
  away <- mean(without) - without
  bend <- if (all(away == 0)) 0 else sum(away^3) / (6 * sum(away^2)^1.5)
  shift <- qnorm(below)
  z <- shift + qnorm(c(0.025, 0.975))
  quantile(found, pnorm(shift + z / (1 - bend * z)), names = FALSE)
}

# -- one group of ratings --------------------------------------------------------------------------

block <- function(name, rows, p_holm = NA) {
  n <- nrow(rows)
  count <- sapply(c("first", "second", "both", "neither", "auto_tie"),
                  function(word) sum(rows$preferred == word))
  first <- count[["first"]]; second <- count[["second"]]
  times <- rows$answer_ms[!is.na(rows$answer_ms)]
  put(name, n = n, items = length(unique(rows$item_id)), tasks = length(unique(rows$task_id)),
      median_ms = if (length(times)) median(times) else NA)
  share(inside(name, "first"), first, n)
  share(inside(name, "second"), second, n)
  share(inside(name, "tie"), n - first - second, n)
  for (word in c("both", "neither", "auto_tie")) share(inside(name, word), count[[word]], n)
  share(inside(name, "first_decided"), first, first + second)
  sign_test(inside(name, "sign"), first, second, p_holm)
  bootstrap(inside(name, c("net", "net_bca", "net_tasks")), rows$task_id, rows$item_id, rows$sign)
}

# The blocks of one table, Holm over them, one test of heterogeneity.
grouped <- function(name, group, rows) {
  there <- rows[[group]]
  members <- ORDERS[[group]][ORDERS[[group]] %in% there]
  others <- sorted(there[nzchar(there) & !(there %in% ORDERS[[group]])])
  members <- c(members, others)
  if (!length(members)) return(invisible(NULL))
  parts <- lapply(members, function(word) rows[there == word, ])
  p <- sapply(parts, function(part) sign_p(sum(part$sign == 1), sum(part$sign == -1)))
  adjusted <- p
  adjusted[!is.na(p)] <- p.adjust(p[!is.na(p)], "holm")
  for (k in seq_along(members)) {
    block(paste(name, group, "blocks", members[k], sep = "/"), parts[[k]], adjusted[k])
  }
  if (length(parts) > 1) {
    counts <- t(sapply(parts, function(part) sapply(WORDS, function(w) sum(part$word == w))))
    heterogeneity(paste(name, group, "heterogeneity", sep = "/"), counts)
  }
}

# Chi-square; by permutation where cells are sparse.
heterogeneity <- function(name, counts) {
  n <- sum(counts)
  counts <- counts[, colSums(counts) > 0, drop = FALSE]
  if (ncol(counts) < 2) return(keep_test(name, NA, NA, NA, n))
  rows <- rowSums(counts); columns <- colSums(counts)
  expected <- outer(rows, columns) / n
  observed <- sum((counts - expected)^2 / expected)
  df <- (length(rows) - 1) * (length(columns) - 1)
  if (n < 10) return(keep_test(name, observed, df, NA, n))
  if (min(expected) >= 1 && mean(expected < 5) <= 0.2) {
    return(keep_test(name, observed, df, pchisq(observed, df, lower.tail = FALSE), n))
  }
  group <- rep(seq_along(rows), rows); word <- rep(seq_along(columns), columns)
  draws <- uniform(PERMUTATIONS * n)
  each <- max(1, min(PERMUTATIONS, 2000000 %/% n)); begins <- seq(0, PERMUTATIONS - 1, by = each)
  reached <- 0
  for (begin in begins) {  # the numbers of one permutation stand together; their ranks shuffle
    some <- min(each, PERMUTATIONS - begin)
    line <- rep(seq_len(some), each = n)
    place <- order(line, draws[(begin * n + 1):((begin + some) * n)], method = "radix")
    shuffled <- word[(place - 1) %% n + 1]
    cell <- rep(group, some) + (shuffled - 1) * length(rows) + (line - 1) * length(counts)
    seen <- matrix(tabulate(cell, some * length(counts)), ncol = some)
    far <- colSums((seen - as.vector(expected))^2 / as.vector(expected))
    reached <- reached + sum(far >= observed * (1 - 1e-9))
  }
  keep_test(name, observed, df, (1 + reached) / (1 + PERMUTATIONS), n)
}

# -- Davidson's model --------------------------------------------------------------------------------

# A Poisson model of the counts of first, second and tie in each setting (pair and side).
davidson <- function(name, rows, models) {
  n <- nrow(rows)
  with_order <- davidson_fit(rows, models, TRUE)
  without <- davidson_fit(rows, models, FALSE)
  best <- if (is.null(with_order)) without else with_order
  estimate(paste(name, "log_worth", models[1], sep = "/"), 0, NA, NA, n)
  for (model in models[-1]) fitted_as(paste(name, "log_worth", model, sep = "/"), best, model, n)
  fitted_as(inside(name, "log_tie"), best, "tie ", n)
  fitted_as(inside(name, "order"), with_order, "order ", n)
  if (length(models) == 2) {
    fitted_as(inside(name, "log_ratio"), best, models[2], n, -1)
    fitted_as(inside(name, "without_order"), without, models[2], n, -1)
  }
  put(name, converged = !is.null(best))
  put(name, order_smallest = if (is.null(with_order)) NA else REACH * with_order$error[["order "]])
  if (is.null(with_order) || is.null(without) || n < 10) {
    return(keep_test(inside(name, "order_test"), NA, NA, NA, n))
  }
  ratio <- max(0, without$deviance - with_order$deviance)
  keep_test(inside(name, "order_test"), ratio, 1, pchisq(ratio, 1, lower.tail = FALSE), n)
}

fitted_as <- function(name, fit, parameter, n, sign = 1) {
  if (is.null(fit) || !(parameter %in% names(fit$value))) return(estimate(name, NA, NA, NA, n))
  value <- sign * fit$value[[parameter]]; half <- Z * fit$error[[parameter]]
  estimate(name, value, value - half, value + half, n)
}

# NULL where there is no finite maximum: an empty cell whose fit runs to zero.
davidson_fit <- function(rows, models, order) {
  if (!nrow(rows) || !any(rows$sign != 0)) return(NULL)
  setting <- paste(match(rows$first_model, models), match(rows$second_model, models),
                   match(rows$left_model, models))
  ties <- any(rows$sign == 0)
  outcomes <- if (ties) WORDS else WORDS[1:2]
  settings <- unique(setting)
  cells <- expand.grid(outcome = outcomes, setting = settings)
  counts <- mapply(function(o, s) sum(rows$word == o & setting == s), cells$outcome, cells$setting)
  parts <- do.call(rbind, strsplit(as.character(cells$setting), " "))
  first <- as.integer(parts[, 1]); second <- as.integer(parts[, 2]); left <- as.integer(parts[, 3])
  won <- ifelse(cells$outcome == "first", first, ifelse(cells$outcome == "second", second, NA))
  columns <- list()
  for (k in seq_along(models)[-1]) {
    columns[[models[k]]] <- ifelse(is.na(won), 0.5 * (first == k | second == k), won == k)
  }
  if (ties) columns[["tie "]] <- as.numeric(is.na(won))
  if (order) columns[["order "]] <- ifelse(is.na(won), 0, ifelse(won == left, 0.5, -0.5))
  design <- do.call(cbind, columns)
  base <- sapply(settings, function(s) as.numeric(cells$setting == s))
  whole <- cbind(base, design)
  if (qr(whole)$rank < ncol(whole)) return(NULL)
  fit <- suppressWarnings(glm.fit(whole, counts, family = poisson(),
                                  control = list(epsilon = 1e-15, maxit = 200)))
  if (any(counts == 0) && min(fit$fitted.values[counts == 0]) < 1e-7) return(NULL)
  information <- crossprod(whole * sqrt(fit$fitted.values))
  error <- sqrt(diag(solve(information)))[-seq_along(settings)]
  value <- fit$coefficients[-seq_along(settings)]
  list(value = setNames(as.list(value), colnames(design)),
       error = setNames(as.list(error), colnames(design)), deviance = fit$deviance)
}

# -- the session ---------------------------------------------------------------------------------------

fatigue <- function(rows, many, practice) {
  put("fatigue", practice = practice)
  rows <- rows[!is.na(rows$position), ]
  if (nrow(rows)) {
    before <- min(rows$position) - 1  # practice items
    span <- max(rows$position) - before; parts <- min(10, span)
    edges <- before + round(c((0:(parts - 1)) * (span / parts), span))
    for (k in seq_len(parts)) {
      name <- paste("fatigue/windows", k, sep = "/")
      own <- rows[rows$position > edges[k] & rows$position <= edges[k + 1], ]
      first <- sum(own$sign == 1); second <- sum(own$sign == -1)
      times <- own$answer_ms[!is.na(own$answer_ms)]
      put(name, start = edges[k] + 1, end = edges[k + 1], n = nrow(own),
          median_ms = if (length(times)) median(times) else NA)
      share(inside(name, "tie"), nrow(own) - first - second, nrow(own))
      share(inside(name, "first_decided"), first, first + second)
    }
  }
  rows$hit <- rows$sign == 0
  odds("tie", rows)
  decided <- rows[rows$sign != 0, ]
  decided$hit <- if (many) decided$answer == "left" else decided$sign == 1
  odds("preference", decided)
  slower(rows[!is.na(rows$answer_ms) & rows$answer_ms > 0, ])
}

# Constant, place from 0 to 1 for each rater, form, rater; NULL where they cannot be told apart.
columns_of <- function(rows) {
  if (!nrow(rows)) return(NULL)
  low <- ave(rows$position, rows$rater, FUN = min); high <- ave(rows$position, rows$rater, FUN = max)
  columns <- list(rep(1, nrow(rows)), ifelse(high > low, (rows$position - low) / pmax(1, high - low), 0))
  for (key in c("form", "rater")) {
    for (word in sorted(rows[[key]])[-1]) columns[[length(columns) + 1]] <- as.numeric(rows[[key]] == word)
  }
  kept <- NULL
  for (column in columns) {
    wider <- cbind(kept, column)
    if (qr(wider)$rank == ncol(wider)) kept <- wider
    else if (is.null(kept) || ncol(kept) < 2) return(NULL)
  }
  if (ncol(kept) < nrow(rows)) unname(kept) else NULL
}

# Logistic regression on place; forms and raters that never vary say nothing of a trend.
odds <- function(name, rows) {
  repeat {
    fixed <- rep(FALSE, nrow(rows))
    if (nrow(rows)) for (key in c("form", "rater")) {
      mean_hit <- ave(as.numeric(rows$hit), rows[[key]])
      fixed <- fixed | mean_hit == 0 | mean_hit == 1
    }
    if (!any(fixed)) break
    rows <- rows[!fixed, ]
  }
  n <- nrow(rows)
  trend <- paste0("fatigue/", name, "_trend"); tested <- paste0("fatigue/", name, "_test")
  design <- columns_of(rows)
  fit <- if (is.null(design)) NULL else logistic(design, as.numeric(rows$hit))
  if (is.null(fit)) {
    estimate(trend, NA, NA, NA, n)
    return(keep_test(tested, NA, NA, NA, n))
  }
  bounds <- exp(fit$value[2] + c(0, -Z, Z) * fit$error[2])
  estimate(trend, bounds[1], bounds[2], bounds[3], n)
  smallest <- REACH * fit$error[2]
  least <- if (smallest < 100) exp(smallest) else NA
  do.call(put, c(list("fatigue"), setNames(list(least), paste0(name, "_trend_smallest"))))
  if (n < 10) return(keep_test(tested, NA, NA, NA, n))
  plain <- logistic(design[, -2, drop = FALSE], as.numeric(rows$hit))
  ratio <- max(0, plain$deviance - fit$deviance)
  keep_test(tested, ratio, 1, pchisq(ratio, 1, lower.tail = FALSE), n)
}

# NULL where chances run to 0 or 1: separated.
logistic <- function(design, hit) {
  fit <- suppressWarnings(glm.fit(design, hit, family = binomial(),
                                  control = list(epsilon = 1e-15, maxit = 200)))
  chance <- fit$fitted.values
  if (min(chance, 1 - chance) < 1e-9) return(NULL)
  error <- sqrt(diag(solve(crossprod(design * sqrt(chance * (1 - chance))))))
  list(value = fit$coefficients, error = error, deviance = fit$deviance)
}

# Log time on place by least squares.
slower <- function(rows) {
  n <- nrow(rows)
  design <- columns_of(rows)
  logs <- log(rows$answer_ms)
  if (is.null(design) || max(logs) == min(logs)) {
    estimate("fatigue/time_trend", NA, NA, NA, n)
    return(keep_test("fatigue/time_test", NA, NA, NA, n))
  }
  fit <- summary(lm(logs ~ design - 1))
  df <- fit$df[2]
  value <- fit$coefficients[2, 1]; error <- fit$coefficients[2, 2]
  bounds <- exp(value + c(0, -1, 1) * qt(0.975, df) * error)
  estimate("fatigue/time_trend", bounds[1], bounds[2], bounds[3], n)
  smallest <- (qt(0.975, df) + qt(0.8, df)) * error
  put("fatigue", time_trend_smallest = if (smallest < 100) exp(smallest) else NA)
  p <- if (n < 10) NA else 2 * pt(abs(value / error), df, lower.tail = FALSE)
  keep_test("fatigue/time_test", value / error, df, p, n)
}

# -- agreement -----------------------------------------------------------------------------------------

# Two readings of the same items: observed, Cohen's kappa, Gwet's AC1, Krippendorff's alpha.
agreement <- function(name, before, after, with_alpha) {
  n <- length(before)
  cells <- table(factor(before, WORDS), factor(after, WORDS))
  put(name, n = n)
  for (i in 1:3) for (j in 1:3) {
    do.call(put, c(list(paste(name, "table", i, sep = "/")), setNames(list(cells[i, j]), j)))
  }
  same <- sum(diag(cells))
  bounds <- if (n) wilson(same, n) else c(NA, NA)
  estimate(inside(name, "raw"), if (n) same / n else NA, bounds[1], bounds[2], n)
  cohen(inside(name, "kappa"), matrix(cells, 3))
  counts <- sapply(WORDS, function(w) (before == w) + (after == w))
  counts <- matrix(as.numeric(unlist(counts)), ncol = 3)
  beyond_chance(inside(name, "ac1"), counts, ac1_chance)
  if (with_alpha) krippendorff(inside(name, "alpha"), counts)
}

# Large-sample variance of Fleiss, Cohen and Everitt (1969).
cohen <- function(name, cells) {
  n <- sum(cells)
  if (n == 0) return(estimate(name, NA, NA, NA, 0))
  p <- cells / n; row <- rowSums(p); column <- colSums(p)
  chance <- sum(row * column)
  if (chance == 1) return(estimate(name, NA, NA, NA, n))
  if (sum(diag(cells)) == n) return(estimate(name, 1, NA, NA, n))
  kappa <- (sum(diag(p)) - chance) / (1 - chance)
  agree <- sum(diag(p) * (1 - (row + column) * (1 - kappa))^2)
  apart <- (1 - kappa)^2 * p * outer(column, row, "+")^2
  diag(apart) <- 0
  variance <- agree + sum(apart) - (kappa - chance * (1 - kappa))^2
  half <- Z * sqrt(max(0, variance) / n) / (1 - chance)
  if (half <= 5e-7) return(estimate(name, kappa, NA, NA, n))  # one gave one answer only
  estimate(name, kappa, max(-1, kappa - half), min(1, kappa + half), n)
}

# Interval from the influence of each item, Student's t.
scatter <- function(name, value, influence) {
  n <- length(influence)
  if (n < 2 || max(influence) - min(influence) < 1e-12) return(estimate(name, value, NA, NA, n))
  half <- qt(0.975, n - 1) * sqrt(sum((influence - value)^2) / (n * (n - 1)))
  estimate(name, value, max(-1, value - half), min(1, value + half), n)
}

agreeing <- function(counts) {
  read <- rowSums(counts)
  rowSums(counts * (counts - 1)) / (read * (read - 1))
}

# AC1 or Fleiss's kappa; items read once count for the chance only (Gwet 2014).
beyond_chance <- function(name, counts, chance_of) {
  counts <- counts[rowSums(counts) >= 1, , drop = FALSE]
  twice <- rowSums(counts) >= 2
  if (!any(twice)) return(estimate(name, NA, NA, NA, 0))
  part <- counts / rowSums(counts)
  by_item <- chance_of(part, colMeans(part))
  chance <- mean(by_item)
  if (abs(chance - 1) < 1e-5) return(estimate(name, NA, NA, NA, sum(twice)))
  own <- rep(0, nrow(counts))
  own[twice] <- (agreeing(counts[twice, , drop = FALSE]) - chance) / (1 - chance)
  own <- own * nrow(counts) / sum(twice)
  value <- mean(own)
  scatter(name, value, own - 2 * (1 - value) * (by_item - chance) / (1 - chance))
}

ac1_chance <- function(part, mean_part) as.vector(part %*% (1 - mean_part)) / (length(WORDS) - 1)
fleiss_chance <- function(part, mean_part) as.vector(part %*% mean_part)

# Nominal alpha from coincidences; influence of each item after Gwet (2014).
krippendorff <- function(name, counts) {
  counts <- counts[rowSums(counts) >= 2, , drop = FALSE]
  n <- nrow(counts)
  if (n == 0) return(estimate(name, NA, NA, NA, 0))
  read <- rowSums(counts)
  marginal <- colMeans(counts) / mean(read)
  chance <- sum(marginal^2)
  if (abs(chance - 1) < 1e-5) return(estimate(name, NA, NA, NA, n))
  whole <- sum(read); totals <- colSums(counts)
  disagree <- 1 - sum(counts * (counts - 1) / (read - 1)) / whole
  expected <- (whole^2 - sum(totals^2)) / (whole * (whole - 1))
  value <- 1 - disagree / expected
  agree <- rowSums(counts * (counts - 1)) / (mean(read) * (read - 1))
  uneven <- (read - mean(read)) / mean(read)
  plain <- (mean(agree) - chance) / (1 - chance)
  own <- agree - mean(agree) * uneven - chance
  by_item <- as.vector(counts %*% marginal) / mean(read) - chance * uneven - chance
  scatter(name, value, (own - 2 * (1 - plain) * by_item) / (1 - chance) - plain + value)
}

# Each two raters, and all of them where there are more than two.
between <- function(rows) {
  raters <- unique(rows$rater); items <- unique(rows$item_id)
  said <- sapply(raters, function(r) {
    own <- rows[rows$rater == r, ]
    own$word[match(items, own$item_id)]
  })
  said <- matrix(said, ncol = length(raters))
  if (length(raters) < 2) return(invisible(NULL))
  for (i in seq_len(length(raters) - 1)) for (j in (i + 1):length(raters)) {
    both <- !is.na(said[, i]) & !is.na(said[, j])
    agreement(paste0("between/", raters[i], " and ", raters[j]), said[both, i], said[both, j], TRUE)
  }
  if (length(raters) > 2) {
    counts <- sapply(WORDS, function(w) rowSums(said == w, na.rm = TRUE))
    counts <- matrix(counts, ncol = 3)
    name <- "between/all raters"
    twice <- counts[rowSums(counts) >= 2, , drop = FALSE]
    put(name, n = nrow(twice))
    if (nrow(twice)) scatter(inside(name, "raw"), mean(agreeing(twice)), agreeing(twice))
    else estimate(inside(name, "raw"), NA, NA, NA, 0)
    beyond_chance(inside(name, "kappa"), counts, fleiss_chance)
    beyond_chance(inside(name, "ac1"), counts, ac1_chance)
    krippendorff(inside(name, "alpha"), counts)
  }
}

# Swapped repeats against the first reading, by rater and together.
repeats <- function(shown, judged) {
  raters <- unique(shown$rater[shown$kind == "repeat"])
  readings <- lapply(raters, function(rater) {
    first <- judged[judged$rater == rater & judged$kind == "item", ]
    again <- judged[judged$rater == rater & judged$kind == "repeat", ]
    before <- first$word[match(again$item_id, first$item_id)]
    list(before = before[!is.na(before)], after = again$word[!is.na(before)])
  })
  names(readings) <- raters
  if (length(raters) > 1) {
    readings[["all raters"]] <- list(before = unlist(lapply(readings, `[[`, "before")),
                                     after = unlist(lapply(readings, `[[`, "after")))
  }
  for (rater in names(readings)) {
    before <- as.character(readings[[rater]]$before); after <- as.character(readings[[rater]]$after)
    name <- inside("repeats", rater); n <- length(before)
    place <- c(first = 1, tie = 0, second = -1)
    moved <- place[after] - place[before]
    put(name, n = n)
    share(inside(name, "same"), sum(before == after), n)
    share(inside(name, "flipped"), sum(before != "tie" & after != "tie" & before != after), n)
    share(inside(name, "to_tie"), sum(before != "tie" & after == "tie"), n)
    share(inside(name, "from_tie"), sum(before == "tie" & after != "tie"), n)
    sign_test(inside(name, "drift"), sum(moved > 0), sum(moved < 0))
    agreement(inside(name, "agreement"), before, after, FALSE)
  }
}

# -- truth, sides, blinding ------------------------------------------------------------------------------

truth <- function(name, rows, items) {
  right_word <- c(only_a = "first", only_b = "second")
  one_right <- rows[rows$stratum %in% names(right_word), ]
  decided <- one_right[one_right$sign != 0, ]
  right <- sum(decided$preferred == right_word[decided$stratum])
  share(inside(name, "criterion/right"), right, nrow(decided))
  share(inside(name, "criterion/of_all"), right, nrow(one_right))
  sign_test(inside(name, "criterion/test"), right, nrow(decided) - right)
  known <- items[items$kind != "warmup" & items$stratum != "unknown", ]
  n <- nrow(known)
  both <- sum(known$stratum == "both"); first <- sum(known$stratum == "only_a")
  second <- sum(known$stratum == "only_b")
  name <- inside(name, "correctness")
  put(name, n = n, both = both, only_first = first, only_second = second,
      neither = n - both - first - second)
  share(inside(name, "hit_first"), both + first, n)
  share(inside(name, "hit_second"), both + second, n)
  sign_test(inside(name, "mcnemar"), first, second)
  apart <- first + second; low <- min(first, second)
  mid <- min(1, 2 * pbinom(low, apart, 0.5) - dbinom(low, apart, 0.5))
  if (first == second) mid <- 1
  keep_test(inside(name, "mid_p"), first, NA, if (apart < 10) NA else mid, apart)
  gain <- (known$stratum == "only_a") - (known$stratum == "only_b")
  by_task <- tapply(gain, known$task_id, mean)
  varied <- if (n) sum(tapply(gain != 0, known$task_id, any)) else 0
  if (varied < 10 || all(by_task == 0)) {
    return(keep_test(inside(name, "clustered"), NA, NA, NA, varied))
  }
  statistic <- sum(by_task)^2 / sum(by_task^2)
  keep_test(inside(name, "clustered"), statistic, 1, pchisq(statistic, 1, lower.tail = FALSE), varied)
}

sides <- function(name, rows) {
  decided <- rows[rows$sign != 0, ]
  n <- nrow(decided); left <- sum(decided$answer == "left")
  share(inside(name, "left"), left, n)
  sign_test(inside(name, "sign"), left, n - left)
  when_left <- decided[decided$left_model == decided$first_model, ]
  when_right <- decided[decided$left_model == decided$second_model, ]
  share(inside(name, "first_when_left"), sum(when_left$sign == 1), nrow(when_left))
  share(inside(name, "first_when_right"), sum(when_right$sign == 1), nrow(when_right))
  averaged <- (mean(when_left$sign == 1) + mean(when_right$sign == 1)) / 2
  put(name, averaged = if (is.nan(averaged)) NA else averaged, smallest_detectable = detectable(n))
}

# The distance of a share from one half that 80 % power finds among n.
detectable <- function(n) {
  found <- if (n) REACH / 2 / sqrt(n) else 0.5
  if (found < 0.5) found else NA
}

# Left among the decided of each form, Holm over them, one test of their difference.
by_form <- function(name, rows) {
  decided <- rows[rows$sign != 0, ]
  there <- sorted(decided$form[nzchar(decided$form)])
  forms <- c(FORMS[FORMS %in% there], there[!(there %in% FORMS)])
  left <- sapply(forms, function(form) sum(decided$answer[decided$form == form] == "left"))
  n <- sapply(forms, function(form) sum(decided$form == form))
  if (!length(forms)) return(invisible(NULL))
  adjusted <- mapply(sign_p, left, n - left)
  adjusted[!is.na(adjusted)] <- p.adjust(adjusted[!is.na(adjusted)], "holm")
  for (k in seq_along(forms)) {
    own <- paste(name, "groups", forms[k], sep = "/")
    share(inside(own, "left"), left[k], n[k])
    sign_test(inside(own, "sign"), left[k], n[k] - left[k], adjusted[k])
    put(own, smallest_detectable = detectable(n[k]))
  }
  if (length(forms) < 2) return(invisible(NULL))
  heterogeneity(inside(name, "heterogeneity"), cbind(left, n - left))
  if (sum(left) && sum(n - left)) put(name, smallest_effect = effect(sum(n), length(forms) - 1))
}

# Cohen's w that a chi-square test of n finds with 80 % power; nothing from 1 on.
effect <- function(n, df) {
  power <- function(far) pchisq(qchisq(0.95, df), df, ncp = far) - 0.2
  found <- sqrt(uniroot(power, c(1e-6, 1e3), tol = 1e-14)$root / n)
  if (found < 1) found else NA
}

# How often the longer list is preferred; log odds on doublings of its words.
length_bias <- function(name, rows) {
  known <- rows[!is.na(rows$words_first), ]
  both <- known[known$words_first > 0 & known$words_second > 0 & known$sign != 0, ]
  doublings <- log2(both$words_first / both$words_second)
  hit <- as.numeric(both$sign == 1)
  unequal <- doublings != 0
  longer <- sum((hit == 1)[unequal] == (doublings > 0)[unequal]); n <- sum(unequal)
  share(inside(name, "longer"), longer, n)
  vote_test(name, both[unequal, ], ((hit == 1) == (doublings > 0))[unequal], nrow(known))
  n <- nrow(both); fit <- NULL
  design <- cbind(rep(1, n), doublings)
  if (n > 2 && max(doublings) > min(doublings) && max(hit) > min(hit)) fit <- logistic(design, hit)
  if (is.null(fit)) {
    estimate(inside(name, "slope"), NA, NA, NA, n)
    return(keep_test(inside(name, "slope_test"), NA, NA, NA, n))
  }
  if (length(unique(both$rater)) > 1) return(slope_by_item(name, both$item_id, design, hit, fit$value))
  slope <- fit$value[2]; error <- fit$error[2]
  estimate(inside(name, "slope"), slope, slope - Z * error, slope + Z * error, n)
  put(name, slope_smallest = REACH * error)
  if (n < 10) return(keep_test(inside(name, "slope_test"), NA, NA, NA, n))
  ratio <- max(0, logistic(design[, 1, drop = FALSE], hit)$deviance - fit$deviance)
  keep_test(inside(name, "slope_test"), ratio, 1, pchisq(ratio, 1, lower.tail = FALSE), n)
}

# The slope of several raters: its error from what items, not ratings, scatter.
slope_by_item <- function(name, items, design, hit, beta) {
  n <- length(hit); chance <- plogis(as.vector(design %*% beta))
  scores <- rowsum(design * (hit - chance), items); k <- nrow(scores)
  if (k < 10) {
    estimate(inside(name, "slope"), NA, NA, NA, n)
    return(keep_test(inside(name, "slope_test"), NA, NA, NA, n))
  }
  bread <- solve(crossprod(design * sqrt(chance * (1 - chance))))
  error <- sqrt((bread %*% crossprod(scores) %*% bread * k / (k - 1))[2, 2])
  bounds <- beta[2] + c(-1, 1) * qt(0.975, k - 1) * error
  estimate(inside(name, "slope"), beta[2], bounds[1], bounds[2], n)
  put(name, slope_smallest = REACH * error)
  value <- beta[2] / error
  keep_test(inside(name, "slope_test"), value, k - 1, 2 * pt(-abs(value), k - 1), n)
}

# Sign test of one rater's answers; of several, of what more of an item's answers say.
vote_test <- function(name, rows, hit, recorded) {
  won <- sum(hit); lost <- sum(!hit)
  if (length(unique(rows$rater)) > 1) {
    votes <- tapply(ifelse(hit, 1, -1), rows$item_id, sum)
    won <- sum(votes > 0); lost <- sum(votes < 0)
  }
  sign_test(inside(name, "sign"), won, lost)
  put(name, smallest_detectable = detectable(won + lost), recorded = recorded)
}

# How often the one list that holds a look-alike of the query is preferred.
lookalike <- function(name, rows) {
  known <- rows[nzchar(rows$near_query) | nzchar(rows$same_patient), ]
  holds <- function(word) known$near_query %in% c(word, "both") |
    known$same_patient %in% c(word, "both")
  alone <- ifelse(holds("first"), ifelse(holds("second"), "both", "first"),
                  ifelse(holds("second"), "second", "none"))
  holders <- list(preferred = alone, near_query = known$near_query,
                  same_patient = known$same_patient)
  for (part in names(holders)) {
    own <- holders[[part]] %in% c("first", "second") & known$sign != 0
    count <- sum(known$word[own] == holders[[part]][own]); n <- sum(own)
    share(inside(name, part), count, n)
    if (part == "preferred") {
      vote_test(name, known[own, ], known$word[own] == holders[[part]][own], nrow(known))
    } else {
      do.call(put, c(list(name), setNames(list(detectable(n)), paste0(part, "_smallest"))))
    }
  }
}

# Intraclass correlation of items within tasks by analysis of variance.
clustering <- function(name, rows) {
  value <- numeric(); task <- integer()
  if (nrow(rows)) {
    held <- items_of(rows$task_id, rows$item_id, rows$sign)
    value <- held$top / held$bottom; task <- held$task
  }
  k <- length(unique(task)); n <- length(value)
  put(name, tasks = k, items = n)
  if (k < 2 || k == n) return(invisible(NULL))
  size <- tabulate(task); means <- ave(value, task)
  across <- sum((means - mean(value))^2) / (k - 1)
  within <- sum((value - means)^2) / (n - k)
  alike <- (n - sum(size^2) / n) / (k - 1); weighed <- sum(size^2) / n
  put(name, mean_size = weighed)
  if (across + (alike - 1) * within == 0) return(invisible(NULL))
  icc <- (across - within) / (across + (alike - 1) * within)
  effect <- max(1, 1 + (weighed - 1) * icc)
  put(name, icc = icc, design_effect = effect, effective_n = n / effect)
}

# The indices of James (1996) and Bang (2004); arms are sides of the tested model.
blinding <- function(guesses, items, tested) {
  own <- items[match(guesses$item_id, items$item_id), ]
  known <- guesses[guesses$answer %in% c("left", "right", "unsure") &
                     (own$first_model == tested | own$second_model == tested), ]
  if (!nrow(known)) return(invisible(NULL))
  put("blinding", n = nrow(known))
  arm <- factor(ifelse(known$left_model == tested, "left", "right"), c("left", "right"))
  cells <- unclass(table(arm, factor(known$answer, c("left", "right", "unsure"))))
  for (side in c("left", "right")) {
    other <- setdiff(c("left", "right"), side)
    counts <- c(cells[side, side], cells[side, other], cells[side, "unsure"])
    name <- paste(tested, side)
    put(inside("blinding/counts", name), "1" = counts[1], "2" = counts[2], "3" = counts[3])
    n <- sum(counts); index <- (counts[1] - counts[2]) / n
    name <- inside("blinding/bang", name)
    if (n == 0) estimate(name, NA, NA, NA, 0)
    else normal(name, index, (sum(counts[1:2]) / n - index^2) / n, n, -1)
  }
  james_interval(matrix(as.numeric(cells), 2))
}

normal <- function(name, value, variance, n, lowest) {
  if (variance <= 1e-15) return(estimate(name, value, NA, NA, n))
  half <- Z * sqrt(variance)
  estimate(name, value, max(lowest, value - half), min(1, value + half), n)
}

# James's index as a function of the six chances [arm, guess].
james <- function(p) {
  unsure <- p[1, 3] + p[2, 3]
  wrong <- (p[1, 2] + p[2, 1]) / 2
  left <- p[1, 1] + p[2, 1]; right <- p[1, 2] + p[2, 2]
  chance <- (right * (p[1, 1] + p[1, 2]) + left * (p[2, 1] + p[2, 2])) / 2
  list(value = unsure + (1 - unsure)^2 * wrong / (2 * chance), chance = chance)
}

# Delta method, slopes by complex steps.
james_interval <- function(cells) {
  n <- sum(cells); p <- cells / n
  if (sum(p[, 3]) == 1) return(estimate("blinding/james", 1, NA, NA, n))
  if (james(p)$chance == 0) return(estimate("blinding/james", NA, NA, NA, n))
  slopes <- p
  for (k in seq_along(p)) {
    moved <- matrix(complex(real = p, imaginary = 0), 2)
    moved[k] <- moved[k] + 1e-30i
    slopes[k] <- Im(james(moved)$value) / 1e-30
  }
  normal("blinding/james", james(p)$value, (sum(p * slopes^2) - sum(p * slopes)^2) / n, n, 0)
}

# -- the study -------------------------------------------------------------------------------------------

read <- function(name) {
  read.csv(file.path(folder, name), colClasses = "character", na.strings = character(),
           check.names = FALSE, strip.white = FALSE)
}

# Presentations with a judgement, as first, second or tie.
judged_of <- function(shown, column = "preferred") {
  rows <- shown[!(shown[[column]] %in% c("", "cannot")), ]
  rows$preferred <- rows[[column]]
  rows$word <- ifelse(rows$preferred %in% c("first", "second"), rows$preferred, "tie")
  rows$sign <- (rows$word == "first") - (rows$word == "second")
  rows
}

# One vote per item: what more than half of its raters said, else a tie.
majority <- function(rows) {
  votes <- lapply(unique(rows$item_id), function(item) {
    cast <- rows[rows$item_id == item, ]
    count <- sapply(WORDS, function(w) sum(cast$word == w))
    word <- WORDS[which.max(count)]
    both <- sum(cast$preferred == "both"); neither <- sum(cast$preferred == "neither")
    if (2 * max(count) <= nrow(cast) || (word == "tie" && both == neither)) word <- "split"
    else if (word == "tie") word <- if (both > neither) "both" else "neither"
    data.frame(item_id = item, task_id = cast$task_id[1], preferred = word, answer_ms = NA_real_,
               sign = (word == "first") - (word == "second"))
  })
  do.call(rbind, votes)
}

# Means of the raters with the variance of Obuchowski and Rockette (1995), by task.
pooled <- function(name, rows) {
  raters <- length(unique(rows$rater))
  net <- across(inside(name, "net"), rows, rows$sign, -1)
  decided <- rows[rows$sign != 0, ]
  across(inside(name, "decided"), decided, as.numeric(decided$sign == 1), 0)
  put(name, raters = raters)
  if (is.null(net)) return(put(name, rater_sd = NA, from_raters = NA))
  variance <- net$scatter / raters + net$shared
  put(name, rater_sd = sqrt(max(0, net$scatter - net$own)),
      from_raters = if (variance > 1e-15) net$scatter / raters / variance else NA)
}

# Mean of the raters' means; their scatter and covariances over tasks (over items of one task).
across <- function(name, rows, value, lowest) {
  n <- nrow(rows)
  cluster <- if (length(unique(rows$task_id)) > 1) rows$task_id else rows$item_id
  raters <- length(unique(rows$rater)); clusters <- length(unique(cluster))
  if (raters < 2 || clusters < 2) {
    estimate(name, NA, NA, NA, n)
    return(NULL)
  }
  away <- (value - ave(value, rows$rater)) / ave(value, rows$rater, FUN = length)
  errors <- unclass(xtabs(away ~ cluster + rows$rater))
  covariance <- crossprod(errors) * clusters / (clusters - 1)
  single <- mean(diag(covariance)); two <- mean(covariance[row(covariance) != col(covariance)])
  means <- as.vector(tapply(value, rows$rater, mean))
  scatter <- var(means); shared <- max(0, two)
  part <- scatter / raters; variance <- part + shared
  if (variance <= 1e-15) {
    estimate(name, mean(means), NA, NA, n)
  } else {  # each part has a t-quantile of its own (Cochran 1964)
    half <- (qt(0.975, raters - 1) * part + qt(0.975, clusters - 1) * shared) / sqrt(variance)
    estimate(name, mean(means), max(lowest, mean(means) - half), min(1, mean(means) + half), n)
  }
  list(scatter = scatter, shared = shared, own = single - two)
}

# Mean grade of each model's candidates.
usefulness <- function(name, rows, first, second) {
  graded <- NULL
  for (side in c("left", "right")) for (k in 1:3) {
    grade <- rows[[paste0("useful_", side, k)]]
    given <- rows[nzchar(grade), ]
    if (!nrow(given)) next
    other <- ifelse(given$left_model == first, second, first)
    graded <- rbind(graded, data.frame(
      model = if (side == "left") given$left_model else other, task = given$task_id,
      item = given$item_id, grade = as.numeric(grade[nzchar(grade)])))
  }
  if (is.null(graded)) return(invisible(NULL))
  for (model in c(first, second)) {
    own <- graded[graded$model == model, ]
    bootstrap(paste(name, "usefulness", model, sep = "/"), own$task, own$item, own$grade)
  }
}

of_pair <- function(first, second, shown, items) {
  name <- paste0("pairs/", first, "-", second)
  own <- shown[shown$first_model == first & shown$second_model == second, ]
  judged <- judged_of(own)
  items <- items[items$first_model == first & items$second_model == second, ]
  rows <- judged[judged$kind == "item", ]
  block(inside(name, "overall"), rows)
  block(inside(name, "first_answers"), judged_of(own[own$kind == "item", ], "first_preferred"))
  block(inside(name, "with_auto_ties"), judged[judged$kind %in% c("item", "auto_tie"), ])
  for (group in names(ORDERS)) grouped(inside(name, "tables"), group, rows)
  davidson(inside(name, "davidson"), rows, c(first, second))
  sides(inside(name, "side"), rows)
  by_form(inside(name, "side_by_form"), rows)
  length_bias(inside(name, "length"), rows)
  lookalike(inside(name, "lookalike"), rows)
  truth(name, rows, items)
  clustering(inside(name, "clustering"), rows)
  usefulness(name, rows, first, second)
  if (length(unique(rows$rater)) > 1) {
    block(inside(name, "majority"), majority(rows))
    pooled(inside(name, "pooled"), rows)
  }
}

# Missing and changed answers, the flow of items.
gaps <- function(shown, items) {
  places <- shown[shown$kind %in% c("item", "repeat"), ]
  put("missing", places = nrow(places), unanswered = sum(places$answer == ""),
      changed = sum(places$revisions > 0))
  reasons <- places$reason[places$answer == "cannot"]
  reasons[reasons == ""] <- "no reason given"
  for (reason in unique(reasons)) {
    do.call(put, c(list("missing/cannot"), setNames(list(sum(reasons == reason)), reason)))
  }
  own <- shown[shown$kind == "item", ]
  answered <- sum(own$answer != ""); cannot <- sum(own$answer == "cannot")
  put("flow", sampled = sum(items$kind != "warmup"), auto_ties = sum(items$kind == "auto_tie"),
      shown = nrow(own), answered = answered, flagged = cannot, analysed = answered - cannot,
      repeats = sum(shown$kind == "repeat" & shown$answer != ""))
}

compare <- function() {
  ours <- data.frame(name = unlist(numbers$name), value = unlist(numbers$value))
  write.csv(ours, file.path(folder, "numbers_r.csv"), row.names = FALSE, na = "")
  theirs <- read("numbers.csv")
  names <- union(theirs$name, ours$name)
  a <- as.numeric(theirs$value)[match(names, theirs$name)]
  b <- ours$value[match(names, ours$name)]
  plain <- abs(a - b)
  plain[is.na(a) != is.na(b)] <- Inf
  plain[is.na(a) & is.na(b)] <- 0
  away <- plain / pmax(1, abs(a), na.rm = TRUE)
  allowed <- ifelse(grepl("davidson|trend|slope|_test", names), 1e-6, 1e-9)
  bad <- which(away > allowed)
  for (k in bad) cat("differs:", names[k], a[k], "in numbers.csv,", b[k], "here\n")
  cat(sum(!is.na(a)), "numbers compared,", length(bad), "differ, largest difference",
      format(max(plain), digits = 2), paste0("(", names[which.max(plain)], "),"),
      "measured against the larger of 1 and the number", format(max(away), digits = 2), "\n")
  quit(status = if (length(bad)) 1 else 0)
}

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1] else "."
study <- read("study.csv")
told <- setNames(study$value, study$name)
stream$seed <- 0  # digit by digit, since a seed may be larger than a double can hold
for (digit in strsplit(told[["bootstrap_seed"]], "")[[1]]) {
  stream$seed <- (stream$seed * 10 + as.numeric(digit)) %% (2^31 - 1)
}
stream$draws <- as.integer(told[["bootstrap_draws"]])
titles <- grep("^models/[^/]*/title$", study$name, value = TRUE)
models <- sapply(strsplit(titles, "/"), `[`, 2)

items <- read("items.csv")
shown <- read("ratings.csv")
guesses <- read("guesses.csv")
only <- if ("only_rater" %in% study$name) told[["only_rater"]] else ""
if (nzchar(only)) {
  shown <- shown[shown$rater == only, ]
  guesses <- guesses[guesses$rater == only, ]
}
facts <- c("first_model", "second_model", "task_id", "family", "form", "split", "stratum", "anatomy",
           "overlap", "words_first", "words_second", "near_query", "same_patient", "difficulty")
shown[facts] <- items[match(shown$item_id, items$item_id), facts]
for (column in c("preferred", "first_preferred")) {
  said <- shown[[column]]
  shown[[column]][said == shown$first_model] <- "first"
  shown[[column]][said == shown$second_model] <- "second"
}
for (column in c("position", "answer_ms", "revisions", "words_first", "words_second")) {
  shown[[column]] <- as.numeric(shown[[column]])
}
shown$stratum_form <- paste(shown$stratum, shown$form, sep = ":")
shown$task <- shown$task_id

put("", draws = stream$draws, seed = as.numeric(told[["bootstrap_seed"]]))
sampled <- items[items$kind != "warmup", ]
pairs <- unique(sampled[c("first_model", "second_model")])
pairs <- pairs[order(pairs$first_model, pairs$second_model, method = "radix"), ]
if (!nrow(pairs)) pairs <- data.frame(first_model = models[1], second_model = models[2])
for (k in seq_len(nrow(pairs))) {
  of_pair(pairs$first_model[k], pairs$second_model[k], shown, items)
}
judged <- judged_of(shown)
rows <- judged[judged$kind == "item", ]
many <- nrow(pairs) > 1
if (many) davidson("davidson", rows, models)
fatigue(rows, many, sum(items$kind == "warmup"))
repeats(shown, judged)
if (!nzchar(only)) between(rows)
blinding(guesses, items, models[1])
gaps(shown, items)
compare()
