// How ids, times, codes and states are shown, on every page alike.

import { ActionIcon, Anchor, Badge, Code, CopyButton, Group, Text, Tooltip } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Check, Copy } from 'lucide-react'
import { useNow } from '../app/activity.ts'
import { pathOfId } from '../app/sections.ts'
import { useSession } from '../app/session.tsx'

const SHOWN_END = 6

/** An id: its type and end, a link where it leads, and a button that copies the whole. */
export function Id({ id, isCurrent = false }: { id: string | null | undefined; isCurrent?: boolean }) {
  const { environment } = useSession()
  if (id === null || id === undefined) return <Nothing />
  const path = isCurrent ? undefined : pathOfId(id)
  const short = `${id.split('_', 1)[0]}_…${id.slice(-SHOWN_END)}`
  return (
    <Group gap={2} wrap="nowrap" display="inline-flex">
      <Tooltip label={id}>
        {path === undefined ? (
          <Code>{short}</Code>
        ) : (
          <Anchor component={Link} to={`/${environment}/${path}`} ff="monospace" size="sm">
            {short}
          </Anchor>
        )}
      </Tooltip>
      <CopyButton value={id}>
        {({ copied, copy }) => (
          <ActionIcon
            size="xs"
            variant="subtle"
            color="gray"
            aria-label={copied ? 'Copied' : `Copy ${id}`}
            onClick={(event) => {
              event.stopPropagation()
              copy()
            }}
          >
            {copied ? <Check size={12} /> : <Copy size={12} />}
          </ActionIcon>
        )}
      </CopyButton>
    </Group>
  )
}

export function Nothing() {
  return (
    <Text span c="dimmed" size="sm" aria-label="none">
      –
    </Text>
  )
}

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]
// Later than this, a date says more than a number of days.
const RELATIVE_UNTIL_MS = 7 * 86_400_000

/** A time by the reader's locale and zone: how long ago, and exactly at the pointer. */
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow()
  if (at === null || at === undefined) return <Nothing />
  const date = new Date(at)
  const distance = date.getTime() - now
  const [unit, size] = UNITS.find(([, milliseconds]) => Math.abs(distance) >= milliseconds) ?? ['second', 1_000]
  const isNear = Math.abs(distance) < RELATIVE_UNTIL_MS
  return (
    <Tooltip label={date.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })}>
      <time dateTime={at}>
        {isNear
          ? RELATIVE.format(Math.round(distance / size), unit)
          : date.toLocaleDateString(undefined, { dateStyle: 'medium' })}
      </time>
    </Tooltip>
  )
}

const COLORS: Record<string, string> = {
  passed: 'green',
  approved: 'green',
  succeeded: 'green',
  active: 'green',
  enabled: 'green',
  delivered: 'green',
  verified: 'green',
  paid: 'green',
  authorized: 'green',
  executed: 'green',
  declined: 'red',
  rotating: 'orange',
  disabled: 'red',
  cancelled: 'orange',
  open: 'blue',
  review: 'yellow',
  pending: 'gray',
  running: 'blue',
  failed: 'red',
  denied: 'red',
  revoked: 'red',
  expired: 'orange',
}

/** A state by its word; the colour repeats it. */
export function Status({ value }: { value: string | null | undefined }) {
  if (value === null || value === undefined) return <Nothing />
  return (
    <Badge color={COLORS[value] ?? 'gray'} variant="dot" tt="none">
      {value.replaceAll('_', ' ')}
    </Badge>
  )
}

export function Codes({ values }: { values: readonly string[] }) {
  if (values.length === 0) return <Nothing />
  return (
    <Group gap={4}>
      {values.map((value) => (
        <Code key={value}>{value}</Code>
      ))}
    </Group>
  )
}

const NUMBER = new Intl.NumberFormat()

export function Num({ value }: { value: number | null | undefined }) {
  return value === null || value === undefined ? <Nothing /> : <span>{NUMBER.format(value)}</span>
}
