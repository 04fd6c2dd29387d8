#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one case of a projection, on step_bench itself: cells are measured, then predicted from operations timed alone.
#   project_test.sh TANDEM STEP_BENCH CASE SOURCE
# shellcheck source=tests/tools/cases.sh
source "$(dirname "$0")/cases.sh"
source_tree=$4

# measured DEVICES: a folder `result` with dp and ddp of a small model
measured() {
  cat >sweep.json <<JSON
{"name": "test", "workloads": [{"model": "mlp-tiny", "batch": 16}], "devices": $1,
 "strategies": ["single", "dp", "ddp"], "launches": 2, "min_time": "20ms", "min_samples": 3}
JSON
  expect 0 "$tandem" run ./sweep.json --out result --step-bench "$fake"
}

project() { "$tandem" project result --step-bench "$fake" --launches=1 --details "$@"; }

# One command answers for a model and a machine alone.
described() { "$tandem" project --step-bench "$fake" --details "$@"; }

predicts() {
  head -n 1 out | grep -q '^Projected, not measured\.$' || die "its first line"
  grep -q '^On 2 cells measured in result the method errs by ' out || die "what stands behind it"
  grep -q '^dp/threads/mlp-tiny/devices:2/batch:16 ' out || die "the hold-out lacks dp"
  grep -q '^ddp/processes/mlp-tiny/devices:2/batch:16 ' out || die "the hold-out lacks ddp"
  grep -q "^mlp-tiny  *8  *4  *dp  .*\[" out || die "dp is not projected on 4 devices, with an interval"
  grep -q "^mlp-tiny  *8  *4  *ddp  .*\[.*\]  *[0-9,.]*  *[0-9.]* \[.*\]  *computing [0-9]* %.*$" out || die "ddp is not projected on 4 devices, with its speed over dp"
  [ -s result/projected/report.html ] || die "no page"
  grep -q '"backend": *"simulated"' result/projected/results.json || die "no simulated launch"
  ! grep -q '"backend": *"host"' result/projected/results.json || die "measured launches among simulated ones"
  grep -q 'Projected, not measured. On 2 cells measured in result the method errs by ' result/projected/report.md || die "the page does not say so"
  grep -q '"tandem_half_widths": *"dp:[0-9.e-]*:2,ddp:[0-9.e-]*:2"' result/projected/results.json || die "its intervals are not printed"
  ! grep -q simulated result/results.json || die "a simulated launch among the measured ones"
  expect 2 "$tandem" compare result result/projected
  one_line 'one is measured and the other simulated'
}

# Measured and projected figures of one question share a page, and never a table or a curve.
beside() {
  expect 0 "$tandem" report result --details
  cp result/report.md one.md
  cp out told
  grep -q '^#### Tandem, measured$' one.md || die "no table of what was measured"
  grep -q '^#### Tandem, projected onto the measured machine (.*)$' one.md || die "no table of the projection"
  sed -n '/^Tandem, projected onto /,$p' told | grep -q '^mlp-tiny  *8  *4  *ddp ' || die "the terminal lacks the projection"
  grep -q 'id="scaling-chart-2"' result/report.html || die "no panel of its own"
  ! grep -q simulated result/results.json || die "a simulated launch among the measured ones"
  expect 0 "$tandem" report result/projected result --out=both
  cmp one.md both/report.md || die "a projection that is named differs from the one in the folder"
  expect 0 described --model=mlp-base --hardware=dgx-a100 --batch-per-device=8 --out=elsewhere
  expect 2 "$tandem" report result elsewhere --out=apart
  one_line 'elsewhere: no projected cell has the model, samples per device, precision and mode of a measured one; report each by itself'
  [ ! -e apart ] || die "something was written"
  rm -r result/projected
  cp -r elsewhere result/projected
  expect 0 "$tandem" report result
  grep -q '^result/projected: no projected cell .*; its own page has it$' out || die "a projection of another question is passed over in silence"
  ! grep -q 'scaling-chart-2' result/report.html || die "a panel without a common question"
  sed -i 's/"schema_version": *"[0-9.]*"/"schema_version": "9.0.0"/' result/projected/results.json
  expect 2 "$tandem" report result
  one_line '9.0.0'
}

# The folder of a projection holds dp and ddp; the other rungs are simulated when they are asked for, once.
explains() {
  before=$(cksum <result/results.json)
  expect 0 "$tandem" explain result/projected --model=mlp-tiny --batch=32 --devices=4 --step-bench "$fake" --details
  grep -q '^Projected, not measured. On 2 cells measured in result the method errs by ' out || die "its head"
  grep -q '^Projected: ddp is faster: dp takes [0-9.]* ms, ddp as torch has it [0-9.]* ms; the gap, dp minus ddp, is .* ms, [-0-9]* % of dp.s step.$' out || die "no answer"
  grep -q '^Projected: The ladder from dp to ddp' out || die "no ladder"
  [ "$(grep -c '^+ .* projected' out)" = 8 ] || die "not eight steps that are projected"
  ! grep -q 'not resolved' out || die "a projected figure is held against launches"
  ! grep -q 'no figure' out || die "a rung is missing"
  grep -q '"commands": *\[' result/projected/results.json || die "no command"
  ! grep -q '"backend": *"host"' result/projected/results.json || die "measured launches among simulated ones"
  [ "$before" = "$(cksum <result/results.json)" ] || die "the measured results changed"
  cp result/projected/results.json rungs.json
  cp out first
  expect 0 "$tandem" explain result/projected --model=mlp-tiny --batch=32 --devices=4 --step-bench "$fake" --details
  cmp -s out first || die "a second explanation differs"
  cmp -s rungs.json result/projected/results.json || die "rungs were simulated again"
  expect 0 described --model=mlp-tiny --hardware=dgx-a100 --devices=4 --batch-per-device=8 --out=described
  expect 0 "$tandem" explain described --model=mlp-tiny --batch=32 --devices=4 --step-bench "$fake" --details
  grep -q '^Projected: The ladder from dp to ddp' out || die "no ladder on a machine of the catalogue"
  expect 2 "$tandem" explain result/projected --model=mlp-base --batch=32 --devices=4
  one_line 'none is of mlp-base in fp32'
  expect 2 "$tandem" explain result/projected --model=mlp-tiny --batch=32 --devices=4 --min-time=1s
  one_line 'so that nothing is measured there'
  expect 2 "$tandem" explain result/projected --model=mlp-tiny --batch=32 --devices=4 --interpreter-lock
  one_line '^tandem: --interpreter-lock: the launches in .* have the interpreter.s costs that tandem project gave them'
  rm result/projected/calibration-fp32.json
  expect 2 "$tandem" explain result/projected --model=mlp-tiny --batch=16 --devices=2 --step-bench "$fake"
  one_line 'run tandem project again'
}

# One measurement and one calibration for all three.
case_measured() {
  measured '[1, 2]'
  expect 2 project --batch=8
  one_line '--batch=8: a FOLDER.s cells are projected by the samples of a device'
  expect 2 project --hardware=dgx-a100
  one_line '--hardware=dgx-a100: a FOLDER is projected onto the machine that it was measured on; give --model or --module'
  expect 0 project --devices=4
  predicts
  cp -r result kept
  beside
  rm -r result
  mv kept result
  explains
}

# The calibration is kept, and the same one gives the same words.
again() {
  grep -q '^timing the operations of mlp-tiny at batches 8, launch 1 of 1$' err || die "what is timed is not said"
  cp result/projected/projection.md before
  expect 0 project --devices=2
  ! grep -q '^timing' err || die "it timed again"
  cmp before result/projected/projection.md || die "another projection"
  expect 0 "$tandem" project result --step-bench "$fake" --devices=2 --launches=2 --details
  grep -q '^timing the operations of mlp-tiny at batches 8, launch 2 of 2$' err || die "the second launch is not said"
  ! grep -q 'launch 1 of 2' err || die "the first launch was not kept"
}

# A measured machine leaves its description, which other projections take.
describes() {
  grep -q '^this machine, for --hardware here and elsewhere: result/projected/hardware.json$' out || die "the file is not named"
  expect 0 "$tandem" list hardware result/projected/hardware.json
  grep -q '"value": 2,$' out || die "its devices are not those of the measured cells"
  grep -q '"source": "measured"' out || die "no figure is measured"
  expect 0 described --model=mlp-base --hardware=result/projected/hardware.json --batch-per-device=8 --out=elsewhere
  grep -q '^No system like yours' out || die "its first line"
  expect 2 described --model=mlp-base --hardware=result/projected/hardware.json --batch-per-device=8 --devices=4
  one_line 'hardware.json has 2 GPUs: take no more'
}

choices() {
  expect 0 project --devices=2 --bucket-mb=1,25 --batch-per-device=4,8
  [ "$(grep -c 'ddp, bucket-mb=1  ' out)" = 4 ] || die "not two batches on two device counts"
  [ "$(grep -c 'ddp, bucket-mb=.* [0-9]*[.][0-9]* \[.*\]  *computing [0-9]* %' out)" = 4 ] || die "not each of two devices held against dp"
  expect 0 project --devices=2 --batch-per-device=64
  grep -q '^timing the operations of mlp-tiny at batches 64, launch 1 of 1$' err || die "what the calibration lacks is not added"
}

case_calibrated() {
  measured '[2]'
  expect 0 project --devices=2
  again
  describes
  choices
}

case_model() {
  expect 0 described --model=resnet50 --hardware=dgx-a100 --devices=1..16 --batch-per-device=8,32 --out=described
  head -n 2 out | tr '\n' ' ' | grep -q '^Projected, not measured: resnet50 in fp32 (convolutions in tf32, torch.s default) on dgx-a100x2@8xib-200g (2 x 8 A100 SXM4 80GB, its network assumed: 8xib-200g), by a time' || die "its first line"
  like='^On published measurements of systems like this (A100 SXM4), given their step of one device, here an estimate, the method errs '
  grep -q "${like}by [0-9.]* % on average, by [0-9]* % at most for dp ([0-9]* systems*, [0-9]* steps), by .* for ddp (.*). The other intervals hold nine in ten such steps.$" out || die "what stands behind it"
  grep -q '^  - interpreter: [0-9.]* times the costs measured on pretended devices, as in published steps of dp on such systems' out || die "the interpreter's costs are not printed"
  grep -q '^  - dp is one process on one node, so that it ends at 8 devices$' out || die "where dp ends is not printed"
  [ "$(grep -c '^  - 8 devices, .* samples each: .*. Speed over one device: ddp [0-9.]* \[.*\], dp [0-9.]* \[' out)" = 2 ] || die "no answer for each batch, with the speed over one device"
  [ "$(grep -c '^  - 16 devices, .* samples each: ddp alone (dp: one process, on one node). Speed' out)" = 2 ] || die "no answer where dp ends"
  [ "$(grep -c '^ *32  *16  *ddp  *.* ms \[.*computing' out)" = 1 ] || die "ddp is not projected on two nodes, with an interval and what limits it"
  grep -q '^ *32  *8  *no communication (bound) ' out || die "no bound"
  for page in projection.md report.md report.html results.json; do
    grep -q 'On published measurements of systems like this (A100 SXM4)' described/$page || die "$page does not say what stands behind it"
    grep -q 'in fp32 (convolutions in tf32' described/$page || die "$page does not name the precision"
  done
  ! grep -q '"backend": *"[^s]' described/results.json || die "a launch that is not simulated"
  ! tail -n +2 described/cells.csv | grep -v simulated || die "a row of the CSV does not say simulated"
  # The report repeats the answer word by word, and gives no other.
  grep -E '^(- [0-9]* devices, |What limits )' described/projection.md >answer
  expect 0 "$tandem" report described
  [ "$(grep -cFf answer described/report.md)" = 5 ] || die "the report has not the answer"
  grep -q '^  - 16 devices, 32 samples each: ddp alone' out || die "the terminal has not the answer"
  ! grep -q 'Why is open\|Next: Nothing' out || die "another answer"
}

# A step of one described device has an interval, by the errors of published steps of one; a given step has none.
case_one_device() {
  half_width=$(sed -n '/"strategy": "listed"/,/}/p' "$source_tree/simulate/catalogue/published.json" |
    sed -n '/"gpu": "H100 SXM5"/,/}/s/.*"half_width": \([0-9.]*\).*/\1/p')
  expect 0 described --model=gpt2-124m --precision=bf16 --hardware=dgx-h100 --devices=1 --batch-per-device=8 --out=one
  grep -q "^  - operations: a time for each kernel of PyTorch's step, .* on [0-9]* measured steps of models .*: the interval of a step, .* holds nine in ten$" out || die "where the interval is from is not printed"
  awk -v width="$half_width" '$3 == "single" { found = 1; low = substr($6, 2); high = $8; sub("]", "", high)
    if (low / ($4 * exp(-width)) > 1.01 || high / ($4 * exp(width)) < 0.99) exit 1 } END { exit !found }' out || die "the interval is not of $half_width"
  grep -q "\"tandem_half_widths\": \"single:$half_width:1\"" one/results.json || die "the results have not its half width alone"
  ! grep -q 'for d*dp\|single-step' out || die "errors or advice of steps that are not in the answer"
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=1,2 --batch-per-device=32 --out=two
  grep -q '^ *32  *1  *single  *[0-9.]* ms \[' out || die "one device beside several has no interval"
  plain=$(sed -n '/"listed-fp32"/,/}/p' "$source_tree/simulate/catalogue/published.json" | sed -n '/"gpu": "V100 SXM2"/,/}/s/.*"half_width": \([0-9.]*\).*/\1/p')
  grep -q 'measured steps without tensor cores of models' out || die "the errors are not those of steps in fp32"
  grep -q "\"tandem_half_widths\": \"dp:.*,single:$plain:1\"" two/results.json || die "the half width is not that of steps in fp32"
  awk '$3 == "ddp" && NF > 12 && !found { found = 1; ratio = log($13 / $10) / log($8 / $4); if (ratio > 0.9) exit 1 } END { exit !found }' out ||
    die "the speed over one device has the error of the described step in it"
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=1 --batch-per-device=32 --single-step=95ms --out=given
  grep -q '^ *32  *1  *single  *[0-9.]* ms  ' out || die "a step that is given has an interval"
  grep -q 'The step is the given one' out || die "errors stand behind a step that is given"
  # Where tf32 is to be had, the types of the kernels that take longest decide.
  for type in fp32 tf32; do
    sed "s/\"product\", \"fp16\", \"-\", \[1, \[0, 1\], 16, 8/\"product\", \"$type\", \"-\", [1, [4096, 1], 4096, 4096/" "$source_tree/tests/workloads/listed.json" >$type.json
    expect 0 described --model=$type.json --hardware=dgx-a100 --devices=1 --batch-per-device=8 --out=of-$type
    cp out $type.out
  done
  grep -q '^Projected, not measured: fp32.json in the types of its kernels on ' fp32.out || die "another precision than the list's"
  expect 0 described --model="$source_tree/tests/workloads/by-flops.json" --hardware=dgx-a100 --devices=1 --batch-per-device=8 --out=products
  grep -q '^  ! by-flops.json lists no kernels: products ' out && grep -q '^No step like it was ever measured\.' out || die "products pass for PyTorch's kernels"
  grep -q 'measured steps without tensor cores of models' fp32.out || die "products in fp32 have the errors of tensor cores"
  ! grep -q 'without tensor cores' tf32.out || die "products in tf32 have not the errors of tensor cores"
}

# The step of one device is of the share, not of a micro-batch: four of these take less than four such steps.
case_micro_batches() {
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=16 --batch-per-device=32 --single-step=97ms --accumulate=4 --compress=fp16 --out=parts
  step() { sed -n "s/^| 32 | $1 | $2 | \([0-9.]*\) ms.*/\1/p" parts/projection.md; }
  awk -v ddp="$(step 16 'ddp, accumulate=4, compress=fp16')" -v one="$(step 1 'single, accumulate=4')" \
    -v bound="$(step 16 'no communication (bound), accumulate=4')" \
    'BEGIN { exit !(97 < one && one == bound && bound < ddp && ddp < 3 * 97) }' ||
    die "ddp, one device and the bound are not all in four micro-batches"
  head -n 2 out | grep -q 'in fp32, accumulate=4, compress=fp16 on ' || die "the first line lacks the options"
  ! grep -q ' for ddp' out || die "published errors of ddp stand behind what no published step has"
  grep -q 'No published step of ddp has accumulate=4, compress=fp16' out || die "that no step is like it is not printed"
  wide=$(sed -n '/"elsewhere"/,$p' "$source_tree/simulate/catalogue/published.json" | sed -n '/"ddp-nodes"/,/}/s/.*"half_width": \([0-9.]*\).*/\1/p')
  sed -n 's/^| 32 | 16 | ddp, .* | \([0-9.]*\) ms \\\[\([0-9.]*\) .. \([0-9.]*\)\\\] .*/\1 \3/p' parts/projection.md |
    awk -v wide="$wide" '{ found = 1; if ($2 / ($1 * exp(wide)) < 0.99) exit 1 } END { exit !found }' || die "its interval is narrower than $wide"
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=8 --batch-per-device=32 --accumulate=4 --out=parts
  ! grep -q '^| 32 | [0-9]* | dp ' parts/projection.md || die "dp in one piece stands beside ddp in four"
  grep -q '^  - 8 devices, 32 samples each: ddp alone (dp: not projected in micro-batches)' out || die "ddp is held against a step in one piece"
  grep -q 'Largest batch .*: [0-9]*[02468] samples on one device; with ddp [0-9]*[02468] on each' out || die "the largest batch is not in whole micro-batches"
  # Peaks of single, of dp's devices, and of ddp, whose hook has half of 102 MB.
  ddp_peak() { described --model=resnet50 --hardware=dgx-1 --batch-per-device=32 --devices=2 --out=fit "$@" >fit.out && sed -n 's/.*"peak_bytes": *\([0-9]*\).*/\1/p' fit/results.json | sed -n 5p; }
  more=$(($(ddp_peak --compress=fp16 --bucket-mb=all) - $(ddp_peak --bucket-mb=all)))
  [ $((more / 1000000)) = 51 ] || die "the hook's copy of a bucket is counted as $more bytes"
  expect 2 "$tandem" explain parts --model=resnet50 --batch=256 --devices=8 --step-bench "$fake"
  one_line '^tandem: reading .*/parts: its steps have --accumulate=4, which the rungs from dp to ddp lack; run tandem project with neither'
  expect 2 described --model=resnet50 --hardware=dgx-1 --batch-per-device=32 --accumulate=3 --out=nothing
  one_line '^tandem: --accumulate=3: it cuts a device.s samples into equal micro-batches, which 32 are not; give a multiple of 3'
  expect 2 described --model=resnet50 --hardware=dgx-1 --batch=12 --devices=2 --accumulate=4 --out=nothing
  one_line '^tandem: --accumulate=4: .* which 6 are not (--batch=12 on 2 devices); give a multiple of 8'
}

# However many batches and nodes: 25 lines of 100 columns.
case_screen() {
  for more in --batch-per-device=8,32,128,256 "--batch=64,100,512 --accumulate=4 --devices=3,8,16"; do
    # shellcheck disable=SC2086
    for columns in 40 100; do
      COLUMNS=$columns expect 0 "$tandem" project --step-bench "$fake" --model=mlp-tiny --hardware=a100x16 $more --out=screen
      [ "$(wc -l <out)" -le 25 ] || die "$(wc -l <out) lines"
      [ "$(wc -L <out)" -le $columns ] || die "$(wc -L <out) columns"
    done
  done
  "$tandem" list hardware rtx-4090-box | tr '\n' ' ' | sed 's/, *"scatter": {[^}]*}//' >box.json
  expect 0 described --model=mlp-tiny --hardware=box.json --batch-per-device=8,32 --devices=1..4 --out=screen
  grep -q '^  ! box.json has no scatter of its GPU: [0-9.]* % of a step, as GPUs of the catalogue have' out || die "the scatter that is assumed is not printed"
  grep -q '^Projected step of mlp-tiny, 4 devices, 32 samples each:$' out || die "not the largest point is drawn"
  expect 2 described --model=mlp-tiny --hardware= --batch-per-device=8 --out=nothing
  one_line "^tandem: --hardware needs a value after the '='"
}

# The committed sample is what its command prints.
case_sample() {
  expect 0 described --model=resnet50 --hardware=dgx-a100 --devices=1..8 --batch-per-device=8,32,128 --out=made
  diff "$source_tree/reports/samples/projected-resnet50/projection.md" made/projection.md ||
    die "the sample is old: copy projection.md and results.json of its command, which reports/samples/README.md has"
}

# The costs of the interpreter slow dp, and their switch takes them away.
case_costs() {
  expect 0 described --model=resnet50 --hardware=dgx-a100 --devices=4 --batch-per-device=8 --out=with
  expect 0 described --model=resnet50 --hardware=dgx-a100 --devices=4 --batch-per-device=8 --dispatch-cost=off --out=without
  grep -q '^  - interpreter: none, by --dispatch-cost=off$' out || die "the switch is not printed"
  step() { sed -n 's/^| 8 | 4 | dp | \([0-9.]*\) ms.*/\1/p' "$1/projection.md"; }
  expect 0 "$tandem" explain with --model=resnet50 --batch=32 --devices=4 --step-bench "$fake" --details
  grep -q "^Projected: ddp is faster: dp takes $(step with | cut -c1-4)" out || die "the ladder's dp is not the projection's"
  grep -q 'takes its lock away too' out || die "where the lock goes is not printed"
  awk -v with="$(step with)" -v without="$(step without)" 'BEGIN { exit !(without > 0 && with > 1.2 * without) }' || die "dp takes $(step with) ms with and $(step without) ms without the interpreter"
}

# A batch over all devices: each strategy against one device on the same batch.
case_batch() {
  expect 0 described --model=mlp-base --hardware=a100-pcie-box --batch=10,64 --out=described
  [ "$(grep -c '^ *64  *[124]  ' out)" = 7 ] || die "not all GPUs of the machine by default, on the same batch each"
  grep -q '^  - 4 devices, batch 64: .*. Speed over one device: ddp ' out || die "no speed over one device"
  row() { sed -n "s/^| 64 | $1 | $2 | \([0-9.]*\) \([mu]s\).*/\1 \2/p" described/projection.md; }
  told=$(sed -n 's/^| 64 | 4 | ddp | [^|]* | [^|]* | \([0-9.]*\) .*/\1/p' described/projection.md)
  awk -v one="$(row 1 single)" -v four="$(row 4 ddp)" -v told="$told" '
    function seconds(text, part) { split(text, part, " "); return part[1] * (part[2] == "ms" ? 1000 : 1) }
    BEGIN { ratio = seconds(one) / seconds(four); exit !(told > 0 && told / ratio < 1.02 && ratio / told < 1.02) }' || die "ddp is said to be $told times as fast, and the steps say otherwise"
  grep -q '^  - 4 devices, batch 10: use one device; else dp alone (ddp: 4 devices do not divide it; take a' out || die "no answer where dp alone takes the batch"
  grep -q '^  - ddp on 4 devices, batch 10: 4 devices do not divide it; take a multiple of 4$' out || die "why a batch is not projected is not printed in a line"
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=2 --batch-per-device=8,100000 --compress=fp16 --bucket-mb=all --out=large
  grep -q '^  - 2 devices, 100000 samples each: neither dp nor ddp (ddp: does not fit; the largest batch that fits is' out || die "that a batch does not fit is no answer"
  fits=$(sed -n "s/.* with ddp \([0-9]*\) on each in buckets of any of these sizes.*/\1/p" large/projection.md)
  grep -q "ddp, bucket-mb=all, .*: does not fit; the largest batch that fits is $((2 * fits)), $fits on a device" large/projection.md || die "the largest batch leaves out the bucket"
  grep -q '^  - dp on 2 devices, 100000 samples each: does not fit; the largest batch that fits is [0-9]*, [0-9]* on a device$' out || die "the largest batch that fits is not printed in a line"
}

case_unlike() {
  expect 0 described --model=mlp-base --hardware=rtx-4090-box --devices=4 --batch-per-device=64 --out=described
  grep -q '^No system like yours (RTX 4090) was ever compared; on others, ' out || die "its first line"
  expect 0 described --model=resnet50 --hardware=dgx-1 --devices=4 --batch-per-device=32 --single-step=95ms --out=given
  grep -q 'single step of 95' out || die "the given step is not printed"
  grep -q 'given their step of one device, as here, the method errs' out || die "its first line"
  ! grep -q 'a time for each kernel' out || die "a given step is called described"
}

case_described_refuses() {
  on_a100() { described --model=resnet50 --hardware=dgx-a100 --out=nothing "$@"; }
  expect 2 described --model=resnet50 --batch-per-device=8
  one_line 'on which machine? add --hardware'
  expect 2 on_a100
  one_line 'give --batch-per-device, such as'
  expect 2 on_a100 --batch-per-device=8 --batch=64
  one_line '^tandem: --batch=64: --batch-per-device=8 says how many samples a device has; leave one of them out'
  expect 2 described --model=resnet50 --hardware=dgx-a10 --batch-per-device=8
  one_line "did you mean 'dgx-a100'?"
  expect 2 described --model=resnet5 --hardware=dgx-a100 --batch-per-device=8 --out=nothing
  one_line 'resnet5'
  expect 2 described --model=resnet50 --hardware=dgx-1 --batch-per-device=8 --precision=bf16 --out=nothing
  one_line '--precision=bf16: the GPU of dgx-1, V100 SXM2 32GB, has no bf16, only fp32 (and fp16, for a --module); use one of these, or'
  expect 2 on_a100 --batch-per-device=8 --precision=fp16
  one_line '--precision=fp16: with a gradient scaler, a step is projected of a --module alone; dgx-a100 has fp32, tf32, bf16'
  expect 2 described --model="$source_tree/tests/workloads/listed.json" --hardware=dgx-a100 --batch-per-device=8 --precision=bf16 --out=nothing
  one_line 'listed.json lists kernels in types of their own; leave it out'
  expect 2 on_a100 --batch-per-device=8 --precision=fp64
  one_line '--precision=fp64: there is no such precision'
  expect 2 described --model=resnet50 --hardware=rtx-4090-box --batch-per-device=8 --devices=8 --out=nothing
  one_line '--devices=8: rtx-4090-box has 4 GPUs: take no more, or name a machine of more nodes, such as --hardware=rtx-4090-boxx2@eth-25g'
  expect 2 described --model=resnet50 --hardware=dgx-a100x2@ib-200g --batch-per-device=8 --devices=17 --out=nothing
  one_line 'has 16 GPUs: take no more, or name a machine of more nodes, such as --hardware=dgx-a100x3@ib-200g'
  "$tandem" list hardware rtx-4090-box >box.json
  expect 2 described --model=resnet50 --hardware=box.json --batch-per-device=8 --devices=8 --out=nothing
  one_line 'box.json has 4 GPUs: take no more, or describe a network of more nodes in the file'
  expect 2 on_a100 --batch-per-device=8 --devices=100000
  one_line '--devices=100000: use a number from 1 to 1024'
  expect 2 on_a100 --batch-per-device=8 --devices=2..4
  one_line '--devices=2..4: use a number from 1'
  expect 2 on_a100 --batch-per-device=0
  one_line '--batch-per-device=0: use whole numbers from 1'
  expect 2 on_a100 --batch=8,many
  one_line "--batch is '8,many': give a whole number"
  expect 2 on_a100 --batch=8 FOLDER
  one_line '^tandem: project: give one of FOLDER'
  echo '{' >broken.json
  expect 2 described --model=broken.json --hardware=dgx-a100 --batch=8 --out=nothing
  one_line '^tandem: workload broken.json: it is not valid JSON'
  expect 2 on_a100 --batch=2000000000
  one_line '--batch=2000000000: use whole numbers from 1 to 1000000000'
  expect 2 on_a100 --batch=8 --single-step=20ms
  one_line 'it is of one batch of one device'
  expect 2 on_a100 --batch-per-device=8,16 --single-step=20ms
  one_line 'it is of one batch'
  expect 2 on_a100 --batch-per-device=8 --launches=3
  one_line '--launches=3: described operations are not timed'
  expect 2 on_a100 --batch-per-device=8 --dispatch-cost=much
  one_line '--dispatch-cost'
  expect 1 on_a100 --batch-per-device=100000
  tail -n 1 err | grep -q '^tandem: no step could be simulated: .*the largest batch that fits is' || die "the largest batch that fits is not printed"
  expect 2 described --module=own.py:build --hardware=dgx-a100 --batch-per-device=8 --with-torch=./no-python --out=nothing
  one_line "there is no program './no-python'"
  printf '#!/bin/sh\nexit 1\n' >python && chmod +x python
  expect 2 described --module=own.py:build --hardware=dgx-a100 --batch-per-device=8 --with-torch=./python --out=nothing
  one_line 'a module needs torch'
  [ ! -e nothing ] || die "a refused command left a folder"
}

case_refuses() {
  measured '[1]'
  expect 2 project
  one_line '^tandem: project result: no cell of two devices or more was measured there'
  expect 2 "$tandem" project nowhere
  one_line nowhere
  sed 's/"tandem_cpu_model": *"[^"]*"/"tandem_cpu_model": "another"/' "$source_tree/reports/samples/quick-2-cores/results.json" >other.json
  expect 2 "$tandem" project other.json --step-bench "$fake" --out elsewhere
  one_line 'were measured on another machine'
  [ ! -e elsewhere ] || die "a refused command left a folder"
  [ ! -e result/projected ] || die "a refused command left a folder"
}

"case_$3" || exit 1
