// `node bench/profile.ts FILE.cpuprofile`: where a process spent its time, by function and by part of the system.

import { readFileSync } from 'node:fs'
import { print } from './harness.ts'

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

const SHOWN = 30

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Usage: node bench/profile.ts FILE.cpuprofile')
const { nodes, samples, timeDeltas }: CpuProfile = JSON.parse(readFileSync(file, 'utf8'))
const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
const functions = new Map<string, number>()
const parts = new Map<string, number>()
let busy = 0
for (const [index, id] of samples.entries()) {
  const frame = frames.get(id)
  const took = timeDeltas[index] ?? 0
  if (frame === undefined || frame.functionName === '(idle)') continue
  busy += took
  const where = frame.url
    .replace(/^.*\/node_modules\//, '')
    .replace(/^file:.*\/(src|bench|workers|capture-kit)\//, '$1/')
  add(functions, `${frame.functionName || '(anonymous)'} ${where}:${frame.lineNumber + 1}`, took)
  add(parts, frame.url === '' ? frame.functionName : partOf(where), took)
}
const total = timeDeltas.reduce((sum, took) => sum + took, 0)
print(`busy ${(busy / 1e6).toFixed(2)} s of ${(total / 1e6).toFixed(2)} s`)
show(parts)
show(functions)

function add(sums: Map<string, number>, name: string, took: number): void {
  sums.set(name, (sums.get(name) ?? 0) + took)
}

function partOf(where: string): string {
  if (where.startsWith('node:')) return where
  const segments = where.split('/')
  return /^(src|@)/.test(where) ? segments.slice(0, 3).join('/') : (segments[0] ?? where)
}

function show(sums: Map<string, number>): void {
  print('')
  const sorted = [...sums].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
  for (const [name, took] of sorted) print(`${((took / busy) * 100).toFixed(1).padStart(5)} %  ${name}`)
}
