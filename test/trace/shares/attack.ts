// What arithmetic gives somebody who collects graphs of one trace: every published number as a linear equation over the links
// of the true graph, solved by least squares. The attacker knows more than a real one: which true nodes each pool contains, and
// that each row sums up to its target's value. It lacks the numbers alone.

import { kindOf, type Manifest, type ManifestLink, type ManifestNode } from '#src/trace/shares/graph.ts'
import { POOL } from '#src/trace/shares/mask.ts'

/** A graph that was seen, with what the attacker knows of it. */
export interface Seen {
  nodes: readonly ManifestNode[]
  links: readonly ManifestLink[]
  /** The true nodes that are not visible in it. */
  pool: ReadonlySet<string>
  /** The name of a true node in it. */
  nameOf(node: ManifestNode): string
}

interface Equation {
  terms: [column: number, factor: number][]
  value: number
}

export interface Attack {
  /** The estimate of a link's weight, and how much of its variance the equations leave open: 0 where they determine it. */
  estimate(source: string, target: string): { weight: number; open: number } | undefined
}

export function attack(truth: Pick<Manifest, 'nodes' | 'links'>, seen: readonly Seen[]): Attack {
  const columns = new Map<string, number>()
  const columnOf = (name: string) => {
    const known = columns.get(name) ?? columns.size
    columns.set(name, known)
    return known
  }
  const linkName = (source: string, target: string) => `${source} > ${target}`
  const rows = Map.groupBy(truth.links, ({ target }) => target)
  const equations: Equation[] = []
  // Each row sums up to the value of its target.
  for (const [target, links] of rows) {
    const terms = links.map(({ source }): [number, number] => [columnOf(linkName(source, target)), 1])
    equations.push({ terms: [...terms, [columnOf(`value ${target}`), -1]], value: 0 })
  }
  for (const { nodes, links, pool, nameOf } of seen) {
    const weights = new Map(links.map(({ source, target, weight }) => [linkName(source, target), weight]))
    const shown = new Map(nodes.map((node) => [node.node_id, node]))
    const logits: [string, number][] = []
    for (const target of truth.nodes) {
      const name = nameOf(target)
      const node = shown.get(name)
      const pooled = weights.get(linkName(POOL, name))
      if (node === undefined) continue
      if (kindOf(target) === 'logit' && typeof node.token_prob === 'number')
        logits.push([target.node_id, Math.log(node.token_prob)])
      const row = rows.get(target.node_id) ?? []
      const inPool = row.filter(({ source }) => pool.has(source))
      if (pooled !== undefined) {
        equations.push({
          terms: inPool.map(({ source }) => [columnOf(linkName(source, target.node_id)), 1]),
          value: pooled,
        })
      }
      for (const { source } of row) {
        const from = truth.nodes.find(({ node_id }) => node_id === source)
        const weight = from === undefined || pool.has(source) ? undefined : weights.get(linkName(nameOf(from), name))
        if (weight !== undefined)
          equations.push({ terms: [[columnOf(linkName(source, target.node_id)), 1]], value: weight })
      }
    }
    // Logits from probabilities, up to a summand that they have in common.
    const [first, ...others] = logits
    for (const [id, log] of first === undefined ? [] : others) {
      equations.push({
        terms: [
          [columnOf(`value ${id}`), 1],
          [columnOf(`value ${first?.[0]}`), -1],
        ],
        value: log - (first?.[1] ?? 0),
      })
    }
  }
  const basis = orthonormalize(equations, columns.size)
  return {
    estimate(source, target) {
      const column = columns.get(linkName(source, target))
      if (column === undefined) return undefined
      // The minimum-norm solution, and what of this unknown lies outside of the equations.
      let [weight, known] = [0, 0]
      for (const { row, value } of basis) {
        const part = row[column] ?? 0
        weight += part * value
        known += part * part
      }
      return { weight, open: 1 - known }
    },
  }
}

// Modified Gram-Schmidt, twice: equations that follow from others vanish.
function orthonormalize(equations: readonly Equation[], width: number): { row: Float64Array; value: number }[] {
  const basis: { row: Float64Array; value: number }[] = []
  // Short ones first: what is known outright then stays exact.
  for (const { terms, value: given } of equations.toSorted((a, b) => a.terms.length - b.terms.length)) {
    const row = new Float64Array(width)
    for (const [column, factor] of terms) row[column] = (row[column] ?? 0) + factor
    let value = given
    for (let round = 0; round < 2; round += 1) {
      for (const known of basis) {
        let dot = 0
        for (let at = 0; at < width; at += 1) dot += (row[at] ?? 0) * (known.row[at] ?? 0)
        if (dot === 0) continue
        for (let at = 0; at < width; at += 1) row[at] = (row[at] ?? 0) - dot * (known.row[at] ?? 0)
        value -= dot * known.value
      }
    }
    const norm = Math.sqrt(row.reduce((sum, part) => sum + part * part, 0))
    if (norm < 1e-9) continue
    basis.push({ row: row.map((part) => part / norm), value: value / norm })
  }
  return basis
}
