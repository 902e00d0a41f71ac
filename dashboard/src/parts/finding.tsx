// The evidence of a finding: what was compared, expected and found, and whatever else the code brings.

import type { FactorEvidence } from '@countersign/client'
import { Code, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatBytes, formatMetres, formatNumber, formatSeconds, formatTime } from './measures.ts'
import { Id, Nothing } from './values.tsx'

const MAX_ITEMS = 20
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
const ID = /^[a-z]{3}_(?:test|live)_[0-9a-z]{26}$/
const HASH = /^[0-9a-f]{40,}$/

export function Evidence({ evidence }: { evidence: FactorEvidence }) {
  const { compared, expected, found, ...more } = evidence
  return (
    <Table verticalSpacing={2} horizontalSpacing="xs" withRowBorders={false} fz="sm">
      <Table.Tbody>
        <Row name="Compared">{compared}</Row>
        <Row name="Expected">
          <Value value={expected} />
        </Row>
        <Row name="Found">
          <Value value={found} />
        </Row>
        {Object.entries(withApiNames(more)).map(([name, value]) => (
          <Row key={name} name={wordsOf(name)}>
            <Value name={name} value={value} />
          </Row>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" w={130} fw={500} style={{ verticalAlign: 'top' }}>
        {name}
      </Table.Th>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{children}</Table.Td>
    </Table.Tr>
  )
}

/** Any JSON value. The name of a member says its unit. */
export function Value({ name = '', value }: { name?: string; value: unknown }): ReactNode {
  if (value === null || value === undefined || value === '') return <Nothing />
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return formatMeasure(name, value)
  if (typeof value === 'string') return <TextValue text={value} />
  if (Array.isArray(value)) {
    if (value.length === 0) return <Nothing />
    return (
      <ul style={{ margin: 0, paddingInlineStart: '1.1em' }}>
        {value.slice(0, MAX_ITEMS).map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items of evidence have no identity
          <li key={index}>
            <Value name={name} value={item} />
          </li>
        ))}
        {value.length > MAX_ITEMS && <li>{formatNumber(value.length - MAX_ITEMS)} more</li>}
      </ul>
    )
  }
  return Object.entries(value).map(([member, inner]) => (
    <div key={member}>
      <Text span size="sm" c="dimmed">
        {wordsOf(member)}:
      </Text>{' '}
      <Value name={member} value={inner} />
    </div>
  ))
}

function TextValue({ text }: { text: string }) {
  if (ID.test(text)) return <Id id={text} />
  if (ISO_TIME.test(text)) return <time dateTime={text}>{formatTime(text)}</time>
  return HASH.test(text) ? <Code style={{ overflowWrap: 'anywhere' }}>{text}</Code> : text
}

function formatMeasure(name: string, value: number): string {
  if (/(?:_metres|_m)$/.test(name)) return formatMetres(value)
  if (/_seconds$/.test(name)) return formatSeconds(value)
  if (/_ms$/.test(name)) return formatSeconds(value / 1_000)
  return /_bytes$/.test(name) ? formatBytes(value) : formatNumber(value)
}

/** The members with the names of the API: the client renames those of the first level. */
export function withApiNames(members: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value as unknown,
    ]),
  )
}

/** `max_distance_metres` is "Max distance": the value has the unit. */
function wordsOf(name: string): string {
  const words = name.replace(/_(?:metres|seconds|ms|bytes)$/, '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
