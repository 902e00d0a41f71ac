// Finds the single checks of a source text: each condition that refuses, each operand of one, each entry of a table of checks. A
// mutant is the text without one of them.

import { parseAst } from 'rolldown/parseAst'

export interface Mutant {
  /** 1 for the first. */
  line: number
  /** The check that is gone, on one line. */
  check: string
  source: string
}

export interface Choice {
  /** Only checks in these functions. */
  functions?: readonly string[]
  /** Tables (top-level constants) and objects whose entries are no checks. */
  notTables?: readonly string[]
  /** Objects, by the name of their variable, each member of which is a check. */
  tables?: readonly string[]
}

/** A node of the syntax tree (ESTree). */
interface Node {
  type: string
  start: number
  end: number
  [member: string]: unknown
}

interface Edit {
  start: number
  end: number
  /** In place of the check. */
  text: string
}

const CONSTANT = /^[A-Z][A-Z0-9_]+$/
const BOOLEAN_NAME = /^(?:is|are|has)[A-Z]/
const PREDICATE_TAKERS = ['every', 'some', 'find', 'filter']
const REPORTERS = /^(?:fail|doubt|push|check[A-Z]\w*|verifying)$/

export function findMutants(source: string, choice: Choice = {}): Mutant[] {
  const program = parseAst(source, { lang: 'ts' }) as unknown as Node
  const edits: Edit[] = []
  visit(program, [], (node, parents) => {
    if (choice.functions !== undefined && !isWithin(node, parents, choice.functions)) return
    edits.push(...editsOf(node, parents, choice))
  })
  const seen = new Set<string>()
  return edits
    .toSorted((a, b) => a.start - b.start || a.end - b.end)
    .flatMap(({ start, end, text }) => {
      const mutated = source.slice(0, start) + text + source.slice(end)
      if (mutated === source || seen.has(mutated)) return []
      seen.add(mutated)
      const check = source.slice(start, end).trim().replaceAll(/\s+/g, ' ')
      return [
        { line: source.slice(0, start).split('\n').length, check: `${check} -> ${text || 'gone'}`, source: mutated },
      ]
    })
}

function editsOf(node: Node, parents: readonly Node[], { notTables = [], tables = [] }: Choice): Edit[] {
  const parent = parents.at(-1)
  switch (node.type) {
    case 'IfStatement':
      return [put(node.test, 'false')]
    case 'ConditionalExpression':
      if (isChoiceOfWords(node)) return []
      return [put(node.test, 'true'), put(node.test, 'false')]
    case 'LogicalExpression':
      if (isNoCheck(node, parents)) return []
      if (node.operator === '&&') return [put(node.left, 'true'), put(node.right, 'true')]
      return node.operator === '||' ? [put(node.left, 'false'), put(node.right, 'false')] : []
    case 'SpreadElement':
      return parent?.type === 'ArrayExpression' && isCall(node.argument) ? [put(node.argument, '[]')] : []
    case 'ExpressionStatement':
      return REPORTERS.test(calleeOf(node.expression)) ? [put(node, ';')] : []
    case 'ReturnStatement':
      return isPredicate(parents.findLast(isFunction), parents) ? [put(node.argument, 'true')] : []
    case 'ArrowFunctionExpression':
      return isPredicate(node, parents) && !isNode(node.body, 'BlockStatement') ? [put(node.body, 'true')] : []
    case 'CallExpression':
      return calleeOf(node) === 'finding' ? [put((node.arguments as Node[])[2], 'true')] : []
    case 'VariableDeclarator': {
      const name = nameOf(node.id)
      const isTable = tables.includes(name) || (CONSTANT.test(name) && parents.length <= 3 && !notTables.includes(name))
      return [
        ...(BOOLEAN_NAME.test(name) && !isFunction(node.init as Node) ? [put(node.init, 'true')] : []),
        ...(isTable ? entriesOf(node.init) : []),
      ]
    }
    case 'MemberExpression':
      return nameOf(node.property) === 'every' ? entriesOf(node.object) : []
    default:
      return []
  }
}

/** One edit for each entry of a literal list or object, which removes the entry. */
function entriesOf(table: unknown): Edit[] {
  const value = isNode(table, 'TSAsExpression') ? table.expression : table
  const entries = isNode(value, 'ArrayExpression')
    ? (value.elements as Node[])
    : isNode(value, 'ObjectExpression')
      ? (value.properties as Node[])
      : []
  if (entries.length < 2) return []
  return entries.map((entry, index) => {
    const next = entries[index + 1]
    // With the comma behind it, or before the last one.
    return next === undefined
      ? { start: entries[index - 1]?.end ?? entry.start, end: entry.end, text: '' }
      : { start: entry.start, end: next.start, text: '' }
  })
}

// A function that answers a question: by its name, or because a method of lists asks it.
function isPredicate(node: Node | undefined, parents: readonly Node[]): boolean {
  if (node === undefined) return false
  const parent = node === parents.at(-1) ? undefined : (parents[parents.indexOf(node) - 1] ?? parents.at(-1))
  const name = nameOf(node.id) || nameOf(isNode(parent, 'VariableDeclarator') ? parent.id : undefined)
  return BOOLEAN_NAME.test(name) || (isCall(parent) && PREDICATE_TAKERS.includes(calleeOf(parent)))
}

// What ends a loop is no check, and without it the loop might not end. What chooses between sentences for people is none either.
function isNoCheck(node: Node, parents: readonly Node[]): boolean {
  return parents.some((parent) => {
    const { test } = parent as { test?: Node }
    return (
      (isLoop(parent) || isChoiceOfWords(parent)) && isNode(test) && test.start <= node.start && node.end <= test.end
    )
  })
}

function isLoop({ type }: Node): boolean {
  return ['WhileStatement', 'DoWhileStatement', 'ForStatement'].includes(type)
}

function isChoiceOfWords(node: Node): boolean {
  return node.type === 'ConditionalExpression' && [node.consequent, node.alternate].some(isSentence)
}

// Codes, names and other texts that an answer may have are without a space.
function isSentence(node: unknown): boolean {
  if (isNode(node, 'Literal')) return typeof node.value === 'string' && node.value.includes(' ')
  if (!isNode(node, 'TemplateLiteral')) return false
  return (node.quasis as { value: { raw: string } }[]).some(({ value }) => value.raw.includes(' '))
}

function isWithin(node: Node, parents: readonly Node[], names: readonly string[]): boolean {
  return [...parents, node].some((one, index, all) => {
    if (!isFunction(one)) return false
    const parent = all[index - 1]
    return names.includes(nameOf(one.id) || nameOf(isNode(parent, 'VariableDeclarator') ? parent.id : undefined))
  })
}

function put(node: unknown, text: string): Edit {
  const { start = 0, end = 0 } = (node ?? {}) as Partial<Node>
  return { start, end, text }
}

function visit(node: Node, parents: readonly Node[], see: (node: Node, parents: readonly Node[]) => void): void {
  see(node, parents)
  for (const value of Object.values(node)) {
    for (const child of [value].flat()) if (isNode(child)) visit(child, [...parents, node], see)
  }
}

function isNode(value: unknown, type?: string): value is Node {
  if (typeof value !== 'object' || value === null || !('type' in value) || typeof value.type !== 'string') return false
  return type === undefined || value.type === type
}

function isFunction(node: Node): boolean {
  return isNode(node) && /Function(?:Declaration|Expression)$/.test(node.type)
}

function isCall(value: unknown): value is Node {
  const node = isNode(value, 'AwaitExpression') ? value.argument : value
  return isNode(node, 'CallExpression') || (isNode(node, 'ParenthesizedExpression') && isCall(node.expression))
}

/** The name of the function or the method that is called. */
function calleeOf(value: unknown): string {
  const node = isNode(value, 'AwaitExpression') ? value.argument : value
  if (!isNode(node, 'CallExpression')) return ''
  const { callee } = node as { callee?: Node }
  return nameOf(isNode(callee, 'MemberExpression') ? callee.property : callee)
}

function nameOf(value: unknown): string {
  return isNode(value, 'Identifier') ? String(value.name) : ''
}
