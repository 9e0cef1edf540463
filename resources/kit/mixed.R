# A mixed model of the ordered answers second < tie < first, from the CSV files of this folder alone.
#
# Usage: Rscript mixed.R [folder]
#
# Visual grading regression (Smedby and Fredrikson 2010; Saffari et al. 2015): a cumulative logit
# model with random item, task and reader. Side is a fixed effect; form and stratum are fixed
# effects in models of their own. Fitted by clmm of the package ordinal (Laplace approximation):
#   install.packages("ordinal")          in R, or
#   apt install r-cran-ordinal           on Debian and Ubuntu
# There is no way around the package here: base R has no such model, and one without random
# effects would take the ratings of one item as independent.
#
# An item is a random effect where some items were read more than once, a task where there are
# three or more, a reader where there are three or more; two readers are a fixed effect, since no
# variance can be told from two. A term without variance is named as singular and left out of the
# intervals. Wald 95 % intervals, of standard deviations on the log scale, from 0 on where they are
# below twice their standard error. With few levels, such as a handful of readers, maximum
# likelihood puts a standard deviation too low. Writes mixed.csv.

options(stringsAsFactors = FALSE, OutDec = ".", warn = 1)
FEW <- 10          # no p-value and no group of its own below
NOTHING <- 0.01    # a standard deviation on the logit scale that is none
Z <- qnorm(0.975)
ANSWERS <- c("second", "tie", "first")

arguments <- commandArgs(trailingOnly = TRUE)
folder <- if (length(arguments)) arguments[1] else "."
if (!nzchar(system.file(package = "ordinal"))) {
  cat("mixed.R needs the R package ordinal. Install it by install.packages(\"ordinal\") in R,",
      "or by: apt install r-cran-ordinal. Nothing was computed.\n")
  quit(status = 3)
}

read <- function(name) {
  read.csv(file.path(folder, name), colClasses = "character", na.strings = character(),
           check.names = FALSE, strip.white = FALSE)
}

# Judged items in force, joined with what they are; warm-up items and repeats are left out.
rows_of <- function() {
  study <- read("study.csv"); items <- read("items.csv"); rows <- read("ratings.csv")
  only <- study$value[study$name == "only_rater"]
  if (length(only) && nzchar(only)) rows <- rows[rows$rater == only, ]
  facts <- c("first_model", "second_model", "task_id", "form", "stratum")
  rows[facts] <- items[match(rows$item_id, items$item_id), facts]
  if (nrow(unique(items[items$kind == "item", c("first_model", "second_model")])) > 1) {
    cat("mixed.R is for studies of two models. Nothing was computed.\n")
    quit(status = 3)
  }
  rows <- rows[rows$kind == "item" & !(rows$preferred %in% c("", "cannot")), ]
  said <- ifelse(rows$preferred == rows$first_model, "first",
                 ifelse(rows$preferred == rows$second_model, "second", "tie"))
  rows$answer <- factor(said, ANSWERS, ordered = TRUE)
  rows$side <- ifelse(rows$left_model == rows$first_model, 0.5, -0.5)
  names(rows)[match(c("item_id", "task_id"), names(rows))] <- c("item", "task")
  rows
}

kept <- list()
keep <- function(model, kind, term, estimate, se = NA, low = NA, high = NA, p = NA, n = NA,
                 note = "") {
  if (!is.na(se) && is.na(low)) { low <- estimate - Z * se; high <- estimate + Z * se }
  kept[[length(kept) + 1]] <<- data.frame(
    study_hash = hash, model = model, kind = kind, term = term, estimate = unname(estimate),
    se = unname(se), low = unname(low), high = unname(high), p = unname(p), n = n, note = note)
}

# -- which terms there can be ---------------------------------------------------------------------

# Names of the random terms, those of many levels first, and fixed terms besides the wanted ones.
terms_of <- function(rows, wanted) {
  levels <- sapply(c("item", "task", "rater"), function(key) length(unique(rows[[key]])))
  random <- names(levels)[levels > 2 & levels < nrow(rows)]
  if (levels[["task"]] == levels[["item"]]) random <- setdiff(random, "task")
  list(random = random[order(-levels[random])],
       fixed = c(if (length(unique(rows$side)) > 1) "side", wanted,
                 if (levels[["rater"]] == 2) "rater"))
}

# -- one fit --------------------------------------------------------------------------------------

fit_once <- function(rows, fixed, random) {
  right <- c(if (length(fixed)) fixed else "1", sprintf("(1 | %s)", random))
  formula <- as.formula(paste("answer ~", paste(right, collapse = " + ")))
  how <- if (length(random)) ordinal::clmm else ordinal::clm
  fit <- suppressWarnings(do.call(how, list(formula, data = rows)))
  fit$covariance <- tryCatch(suppressWarnings(vcov(fit)), error = function(problem) NULL)
  if (!is.null(fit$covariance) && !all(is.finite(fit$covariance))) fit$covariance <- NULL
  fit$sds <- if (length(random)) abs(sapply(fit$ST, function(part) part[1, 1])) else numeric()
  fit
}

# Fits, and again without the terms that have no variance, until there is none of these.
fit_model <- function(rows, fixed, random) {
  singular <- character()
  repeat {
    fit <- fit_once(rows, fixed, random)
    empty <- names(fit$sds)[fit$sds < NOTHING]
    if (!length(empty) && is.null(fit$covariance) && length(random)) {
      empty <- names(which.min(fit$sds))
    }
    if (!length(empty)) break
    singular <- c(singular, empty)
    random <- setdiff(random, empty)
  }
  fit$random <- random
  fit$singular <- singular
  fit
}

prepared <- function(rows, group = NULL) {
  rows$answer <- droplevels(rows$answer)
  for (key in c("item", "task")) rows[[key]] <- factor(rows[[key]])
  rows$rater <- factor(rows$rater)
  if (nlevels(rows$rater) == 2) contrasts(rows$rater) <- c(0.5, -0.5)
  if (!is.null(group)) rows[[group]] <- factor(rows[[group]])
  rows
}

# -- what is said of a fit --------------------------------------------------------------------------

# A sum of parameters with its standard error.
summed <- function(fit, weights) {
  value <- sum(weights * fit$coefficients[names(weights)])
  if (is.null(fit$covariance)) return(c(value, NA))
  part <- fit$covariance[names(weights), names(weights), drop = FALSE]
  c(value, sqrt(max(0, drop(weights %*% part %*% weights))))
}

wald <- function(model, kind, term, found, n, test = FALSE, note = "") {
  p <- if (test && n >= FEW && isTRUE(found[2] > 0)) 2 * pnorm(-abs(found[1] / found[2])) else NA
  keep(model, kind, term, found[1], found[2], p = p, n = n, note = note)
}

# Where the answers lie between the models: minus the middle of the two thresholds.
place_of <- function(fit, level = NULL) {
  cuts <- names(fit$alpha)
  weights <- setNames(rep(-1 / length(cuts), length(cuts)), cuts)
  if (!is.null(level) && level %in% names(fit$coefficients)) weights <- c(weights, setNames(1, level))
  weights
}

tell_thresholds <- function(model, fit, n) {
  for (cut in names(fit$alpha)) wald(model, "threshold", cut, summed(fit, setNames(1, cut)), n)
  if (length(fit$alpha) == 2) {
    half <- setNames(c(-0.5, 0.5), names(fit$alpha))
    wald(model, "fixed", "half width of the tie", summed(fit, half), n)
  }
}

# Chances for an item, task and reader in the middle, each model as often on the left.
tell_chances <- function(model, fit, n) {
  note <- "for a typical item, task and reader; not the share of all answers"
  for (answer in c("second", "first")) {
    sign <- if (answer == "second") 1 else -1
    cut <- if (answer == "second") names(fit$alpha)[1] else tail(names(fit$alpha), 1)
    found <- summed(fit, setNames(sign, cut))
    bounds <- plogis(found[1] + c(-Z, Z) * found[2])
    keep(model, "chance", paste(answer, "preferred"), plogis(found[1]), NA, bounds[1], bounds[2],
         n = n, note = note)
  }
}

tell_random <- function(model, fit, rows) {
  for (term in names(fit$sds)) {
    sd <- fit$sds[[term]]; levels <- nlevels(rows[[term]])
    place <- length(fit$coefficients) + match(term, names(fit$sds))  # beside the fixed terms
    se <- if (is.null(fit$covariance)) NA else sqrt(fit$covariance[place, place])
    bounds <- if (isTRUE(sd < 2 * se)) c(0, sd + Z * se) else sd * exp(c(-Z, Z) * se / sd)
    keep(model, "sd", term, sd, se, bounds[1], bounds[2], n = levels,
         note = sprintf("standard deviation over %d levels, log odds", levels))
  }
  for (term in fit$singular) {
    keep(model, "sd", term, 0, n = nlevels(rows[[term]]),
         note = "singular: no variance found; the model was fitted again without this term")
  }
}

tell_fit <- function(model, fit, rows) {
  n <- nrow(rows)
  for (key in c("rater", "item", "task")) {
    keep(model, "fact", paste0(key, "s"), nlevels(rows[[key]]), n = n)
  }
  keep(model, "fact", "log likelihood", as.numeric(fit$logLik), n = n)
  mixed <- inherits(fit, "clmm")
  code <- if (mixed) fit$optRes$convergence else fit$convergence$code
  message <- if (mixed) fit$optRes$message else fit$message
  if (code != 0 || is.null(fit$covariance)) {
    message <- c(message, "no maximum was found: the numbers of this model mean nothing")
  }
  keep(model, "fact", "convergence (0: converged)", code, n = n, note = paste(message, collapse = "; "))
  keep(model, "fact", "largest gradient", max(abs(fit$gradient)), n = n)
  values <- eigen(as.matrix(fit$Hessian), symmetric = TRUE, only.values = TRUE)$values
  keep(model, "fact", "condition of the Hessian", max(values) / min(values), n = n,
       note = if (min(values) <= 0 || is.null(fit$covariance)) "not positive: no intervals" else "")
}

# -- the models -------------------------------------------------------------------------------------

tell <- function(model, fit, rows) {
  n <- nrow(rows)
  if (all(c("first", "second") %in% levels(rows$answer))) {
    wald(model, "fixed", "first over second", summed(fit, place_of(fit)), n, TRUE, "log odds")
    tell_chances(model, fit, n)
  }
  tell_thresholds(model, fit, n)
  for (term in intersect(c("side", "rater1"), names(fit$beta))) {
    side <- term == "side"
    wald(model, "fixed", if (side) "left side" else paste(levels(rows$rater), collapse = " over "),
         summed(fit, setNames(1, term)), n, TRUE,
         if (side) "log odds" else "log odds; two readers are a fixed effect")
  }
  tell_random(model, fit, rows)
  tell_fit(model, fit, rows)
}

# A model with form or stratum, each group's place, and a likelihood ratio against none.
grouped <- function(group, rows) {
  sizes <- table(rows[[group]][!(rows[[group]] %in% c("", "unknown"))])
  named <- names(sizes)[sizes >= FEW]
  own <- rows[rows[[group]] %in% named, ]
  if (length(named) < 2 || !all(c("first", "second") %in% own$answer)) {
    return(cat(sprintf("%s: fewer than two groups of %d ratings, no model.\n", group, FEW)))
  }
  own <- prepared(own, group)
  terms <- terms_of(own, group)
  fit <- fit_model(own, terms$fixed, terms$random)
  base <- fit_once(own, setdiff(terms$fixed, group), fit$random)
  n <- nrow(own)
  for (level in levels(own[[group]])) {
    wald(group, "fixed", paste("first over second,", level),
         summed(fit, place_of(fit, paste0(group, level))), sum(own[[group]] == level), TRUE, "log odds")
  }
  ratio <- max(0, 2 * as.numeric(fit$logLik - base$logLik)); df <- length(named) - 1
  keep(group, "test", "likelihood ratio of the groups", ratio, n = n,
       p = pchisq(ratio, df, lower.tail = FALSE), note = sprintf("df %d", df))
  if (n < nrow(rows)) keep(group, "fact", "ratings of no or too small a group", nrow(rows) - n, n = n)
  tell_random(group, fit, own)
  tell_fit(group, fit, own)
}

show <- function(found) {
  number <- function(value) ifelse(is.na(value), "", format(signif(value, 4), trim = TRUE, digits = 4))
  for (k in seq_len(nrow(found))) with(found[k, ], {
    interval <- if (is.na(low)) "" else sprintf(" [%s, %s]", number(low), number(high))
    p <- if (is.na(p)) "" else paste0(", p ", number(p))
    cat(sprintf("%-8s %-34s %s%s%s (n = %d)%s\n", model, term, number(estimate), interval, p, n,
                if (nzchar(note)) paste0("; ", note) else ""))
  })
}

rows <- rows_of()
hash <- if (nrow(rows)) rows$study_hash[1] else ""
if (nlevels(droplevels(rows$answer)) < 2) {
  cat("Fewer than two kinds of answers were given: there is nothing to model.\n")
  quit(status = 3)
}
cat(sprintf("first: %s, second: %s; %s\n", rows$first_model[1], rows$second_model[1],
            paste("ordinal", utils::packageVersion("ordinal"))))
main <- prepared(rows)
terms <- terms_of(main, NULL)
tell("all", fit_model(main, terms$fixed, terms$random), main)
for (group in c("form", "stratum")) grouped(group, rows)
found <- do.call(rbind, kept)
show(found)
write.csv(found, file.path(folder, "mixed.csv"), row.names = FALSE, na = "")
