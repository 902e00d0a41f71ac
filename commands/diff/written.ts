// A report as CI systems and people read it.

import type { DiffReport } from '#src/trace/diffs/report.ts'

/** JUnit XML: one test for each family. What is inconclusive is skipped, and CI tells it by the exit code. */
export function writeJunit(report: DiffReport, hash: string, seconds: number): string {
  const { base, target, families } = report
  const count = (verdict: string) => families.filter((one) => one.verdict === verdict).length
  const cases = families.map((one) => {
    const said = toXml(sentenceOf(one))
    const body =
      one.verdict === 'drift'
        ? `<failure type="drift" message="${said}"/>`
        : one.verdict === 'inconclusive'
          ? `<skipped message="${toXml(whyInconclusive(report))}"/>`
          : `<system-out>${one.verdict === 'warn' ? 'warning: ' : ''}${said}</system-out>`
    return `    <testcase classname="trace.diff" name="${toXml(one.family)}">${body}</testcase>`
  })
  const name = toXml(`${base.model_version_id} to ${target.model_version_id}`)
  const counts = `tests="${families.length}" failures="${count('drift')}" skipped="${count('inconclusive')}" errors="0"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${name}" ${counts} time="${seconds.toFixed(3)}">`,
    `    <properties><property name="verdict" value="${report.verdict}"/><property name="report_hash" value="${hash}"/></properties>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

export function writeTable(report: DiffReport, hash: string): string {
  const { base, target, eval_set, next_token_kl, shifted_neurons } = report
  const rows = [
    ['family', 'base', 'target', 'psi', 'p (Holm)', 'shift', '95 %', 'verdict'],
    ...report.families.map(({ family, base_mean, target_mean, psi, ks, shift, verdict }) => [
      family,
      base_mean.toFixed(3),
      target_mean.toFixed(3),
      psi.toFixed(3),
      ks.p_holm.toPrecision(2),
      signed(shift.mean),
      `${signed(shift.low)} ${signed(shift.high)}`,
      verdict,
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  const { mean, tokens, undefined_because } = next_token_kl
  const divergence =
    mean === null ? `not defined: ${undefined_because ?? 'no tokens'}` : `${mean} nats, ${tokens} tokens`
  const neurons = shifted_neurons
    .slice(0, 3)
    .map(({ layer, neuron, effect }) => `${layer}/${neuron} (${signed(effect)})`)
  return [
    `${base.model_version_id} to ${target.model_version_id}, ${eval_set.used} of ${eval_set.prompts} prompts of ${eval_set.name}`,
    '',
    ...lines,
    '',
    `next-token divergence  ${divergence}`,
    ...(neurons.length === 0 ? [] : [`most shifted neurons   ${neurons.join(', ')}`]),
    ...(report.families_uncompared.length === 0
      ? []
      : [`not compared           ${report.families_uncompared.join(', ')}`]),
    `report hash            ${hash}`,
    `verdict                ${report.verdict}${report.verdict === 'inconclusive' ? `: ${whyInconclusive(report)}` : ''}`,
    '',
  ].join('\n')
}

function whyInconclusive({ eval_set, settings, families }: DiffReport): string {
  if (eval_set.used < settings.min_prompts) return `${eval_set.used} prompts; ${settings.min_prompts} are needed`
  return families.length === 0 ? 'the models have no canary family in common' : ''
}

function sentenceOf({ psi, ks, shift }: DiffReport['families'][number]): string {
  return `psi ${psi}, p ${ks.p_holm} (Holm), mean shift ${shift.mean} [${shift.low}, ${shift.high}]`
}

const signed = (value: number) => `${value >= 0 ? '+' : ''}${value.toFixed(3)}`

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
// XML 1.0 has no other control characters.
const toXml = (text: string) =>
  text.replaceAll(/[^\P{C}\n\t]/gu, ' ').replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '')
