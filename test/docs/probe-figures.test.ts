// The figures of docs/trace/canaries.md are those of the probes that are there. After the probes were fitted again:
// UPDATE=1 npm test -- test/docs/probe-figures.test.ts

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { DEFAULT_MODEL, EMBEDDED_MODELS } from '#src/trace/models/model-files.ts'
import { type ProbeCard, parseProbeSet } from '#src/trace/probes/probe-set.ts'
import { PACKAGES } from '../../commands/model/packages.ts'

const DOC = join(import.meta.dirname, '../../docs/trace/canaries.md')
const { probes } = parseProbeSet(readFileSync(DEFAULT_MODEL.probesPath ?? '', 'utf8'))
const SETS = [...EMBEDDED_MODELS.map(({ probesPath }) => probesPath ?? ''), fileURLToPath(PACKAGES.smollm2.probes)].map(
  (path) => parseProbeSet(readFileSync(path, 'utf8')),
)
// The file of SmolLM2 has a name that nobody knows it by.
const NAMES = [...EMBEDDED_MODELS.map((_, index) => SETS[index]?.model.name ?? ''), 'SmolLM2-135M-Instruct']
const CONTROLS = ['order_swapped', 'guard_swapped', 'other_lexicon', 'reworded', 'quoting']

const figure = (value: number) => value.toFixed(2)
const measured = (one: Pick<ProbeCard['held_out'], 'auc' | 'trip_rate' | 'false_positive_rate'> | undefined) =>
  one === undefined ? '-' : [one.auc, one.trip_rate, one.false_positive_rate].map(figure).join(' / ')

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const CARD = {
  head: ['family', 'status', 'plain', ...CONTROLS.map((control) => control.replace('_', ' ')), 'generated'],
  rows: probes.map(({ family, card }) => [
    `\`${family}\``,
    card.status,
    measured(card.held_out),
    ...CONTROLS.map((control) => measured(card.controls[control])),
    `${card.generated?.trips} of ${card.generated?.runs}`,
  ]),
}
const ORDERS = {
  head: ['family', 'kind', 'trained on', 'AUC', 'order swapped', 'used'],
  rows: probes.flatMap(({ family, kind, card }) =>
    card.compared.map((one) => [
      `\`${family}\``,
      `\`${one.kind}\``,
      one.trained_on.replace('_', ' '),
      figure(one.held_out_auc),
      figure(one.order_swapped_auc),
      one.kind === kind && one.trained_on === 'both_orders' ? 'yes' : '',
    ]),
  ),
}

const GENERATED = {
  head: ['family', ...NAMES],
  rows: [
    ...probes.map(({ family }, index) => [
      `\`${family}\``,
      ...SETS.map(({ probes: own }) => {
        const card = own[index]?.card
        return `${card?.generated?.trips} of ${card?.generated?.runs}, ${card?.status}`
      }),
    ]),
    [
      'any family',
      ...SETS.map(({ generated }) => `${((generated?.false_positive_rate_any_family ?? 1) * 100).toFixed(0)} %`),
    ],
  ],
}

it('docs/trace/canaries.md has the figures of the tiny model’s card', () => {
  const text = readFileSync(DOC, 'utf8')
  const made = [CARD, GENERATED, ORDERS].reduce((changed, { head, rows }) => {
    const first = head.slice(0, 3).map((name) => `\\| ${name} +`)
    const table = new RegExp(`^${first.join('')}.*\\n(?:\\|.*\\n)+`, 'm')
    expect(changed).toMatch(table)
    return changed.replace(table, `${tableOf(head, rows)}\n`)
  }, text)
  if (process.env.UPDATE) writeFileSync(DOC, made)
  else expect(made).toBe(text)
})
