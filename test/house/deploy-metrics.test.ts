// Dashboards and alerts use existing metrics and labels, and every alert says what to do.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { describeMetrics } from '../support/metrics.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const alerts = read('deploy/prometheus/alerts.yaml')
const dashboard: { panels: Panel[]; templating: { list: { definition?: string }[] } } = JSON.parse(
  read('deploy/grafana/countersign.json'),
)
const panels = dashboard.panels.filter(({ type }) => type !== 'row')

interface Panel {
  id: number
  type: string
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

// Metrics of Prometheus itself, and of the kubelet.
const FOREIGN: Record<string, string[]> = {
  up: [],
  kubelet_volume_stats_available_bytes: ['persistentvolumeclaim'],
  kubelet_volume_stats_capacity_bytes: ['persistentvolumeclaim'],
}
// Labels that we, or the scraper, put on every series.
const COMMON = ['process', 'job', 'instance']
const SUFFIXES: Record<string, string[]> = { histogram: ['_bucket', '_count', '_sum'] }
const known = new Map(Object.entries(FOREIGN))
for (const { name, labels, kind } of describeMetrics({ isWhole: true })) {
  for (const suffix of SUFFIXES[kind] ?? ['']) {
    known.set(`${name}${suffix}`, suffix === '_bucket' ? [...labels, 'le'] : labels)
  }
}
const expressions = [
  ...rulesOf(alerts).map(({ name, expr }) => ({ from: name, expr })),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ from: title, expr }))),
]

describe('alerts and dashboard', () => {
  it('use existing metrics with the labels that they have', () => {
    expect(expressions.length).toBeGreaterThan(40)
    const wrong = expressions.flatMap(({ from, expr }) => faultsOf(expr).map((fault) => `${from}: ${fault}`))
    expect(wrong).toEqual([])
  })

  it('are checked for wrong names and labels', () => {
    expect(faultsOf('max by (quue) (countersign_queue_depth{state="dead"}) > 0')).toEqual(['label quue'])
    expect(faultsOf('sum(rate(countersign_queue_deepness[5m]))')).toEqual(['metric countersign_queue_deepness'])
    expect(faultsOf('countersign_engine_up{queue="a"} == 1')).toEqual(['label queue'])
    expect(faultsOf('rate(countersign_job_run_seconds[5m])')).toEqual(['metric countersign_job_run_seconds'])
  })

  it('show every metric of ours', () => {
    const asked = new Set(expressions.flatMap(({ expr }) => namesIn(expr)))
    const shown = (name: string) => ['', '_bucket', '_count'].some((suffix) => asked.has(`${name}${suffix}`))
    const unshown = describeMetrics().filter(({ name }) => !shown(name))
    expect(unshown.map(({ name }) => name)).toEqual([])
  })

  it('each have a severity, a summary, and a row in docs/operate/incidents.md that says what to do', () => {
    const documented = [...read('docs/operate/incidents.md').matchAll(/^\| `(Countersign\w+)`/gm)].map(
      ([, name]) => name,
    )
    const rules = rulesOf(alerts)
    expect(documented.sort()).toEqual(rules.map(({ name }) => name).sort())
    for (const { name, text } of rules) {
      expect(text, name).toMatch(/severity: (page|ticket) /)
      expect(text, name).toMatch(/summary: /)
    }
  })

  it('fill the dashboard without gaps: ids are unique, panels do not overlap, each has a query', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    for (const { title, targets } of panels) expect(targets?.length, title).toBeGreaterThan(0)
    for (const { definition } of dashboard.templating.list) {
      const metric = /^label_values\((\w+), \w+\)$/.exec(definition ?? 'label_values(up, job)')?.[1]
      expect(known.has(metric ?? ''), definition).toBe(true)
    }
  })
})

function rulesOf(text: string): { name: string; expr: string; text: string }[] {
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const block = /^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/m.exec(rule)
      return { name: /^\w+/.exec(rule)?.[0] ?? '', expr: block?.[1] ?? block?.[2] ?? '', text: rule }
    })
}

function faultsOf(expr: string): string[] {
  const metrics = namesIn(expr)
  const labels = new Set([...COMMON, ...metrics.flatMap((name) => known.get(name) ?? [])])
  return [
    ...metrics.filter((name) => !known.has(name)).map((name) => `metric ${name}`),
    ...labelsIn(expr)
      .filter((label) => !labels.has(label))
      .map((label) => `label ${label}`),
  ]
}

const WORDS = new Set(['and', 'or', 'unless', 'bool', 'by', 'without', 'on', 'ignoring'])

function namesIn(expr: string): string[] {
  const bare = expr
    .replaceAll(/\{[^}]*\}|"[^"]*"|\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring) \([^)]*\)/g, '')
  return [...bare.matchAll(/[a-zA-Z_][\w:]*(?!\w*\s*\()/g)].map(([name]) => name).filter((name) => !WORDS.has(name))
}

function labelsIn(expr: string): string[] {
  const matchers = [...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inner = '']) =>
    [...inner.matchAll(/(\w+) *(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
  )
  const grouped = [...expr.matchAll(/\b(?:by|without|on|ignoring) \(([^)]*)\)/g)].flatMap(([, inner = '']) =>
    inner.split(',').map((label) => label.trim()),
  )
  return [...new Set([...matchers, ...grouped])]
}

function read(file: string): string {
  return readFileSync(resolve(ROOT, file), 'utf8')
}
