// The filters of a list: query parameters of its operation, as they stand in the address.

import { Button, Group, MultiSelect, Select, TextInput } from '@mantine/core'
import { RotateCcw } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Query } from './list-page.tsx'

export type Filter =
  | { kind: 'text'; name: string; title: string }
  | { kind: 'choice'; name: string; title: string; values: readonly string[] }
  | { kind: 'choices'; name: string; title: string; values: readonly string[] }
  | { kind: 'flag'; name: string; title: string }
  | { kind: 'day'; name: string; title: string }

interface FilterBarProps {
  filters: readonly Filter[]
  values: Query
  onChange(values: Query): void
}

export function FilterBar({ filters, values, onChange }: FilterBarProps) {
  const set = (name: string, value: string | undefined) => onChange({ ...values, [name]: value })
  const isFiltered = filters.some(({ name }) => values[name] !== undefined)
  return (
    <Group gap="xs" align="flex-end" role="search" aria-label="Filters">
      {filters.map((filter) => (
        <One
          key={filter.name}
          filter={filter}
          value={values[filter.name]}
          onChange={(value) => set(filter.name, value)}
        />
      ))}
      {isFiltered && (
        <Button
          variant="subtle"
          size="xs"
          leftSection={<RotateCcw size={14} />}
          onClick={() => onChange(Object.fromEntries(Object.keys(values).map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </Group>
  )
}

interface OneProps {
  filter: Filter
  value: string | undefined
  onChange(value: string | undefined): void
}

const options = (values: readonly string[]) => values.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

function One({ filter, value, onChange }: OneProps) {
  const { title } = filter
  switch (filter.kind) {
    case 'text':
      return <TextFilter title={title} value={value} onChange={onChange} />
    case 'choice':
      return (
        <Select
          size="xs"
          w={170}
          label={title}
          data={options(filter.values)}
          value={value ?? null}
          onChange={(chosen) => onChange(chosen ?? undefined)}
          clearable
        />
      )
    case 'choices':
      return (
        <MultiSelect
          size="xs"
          w={220}
          label={title}
          data={options(filter.values)}
          value={value === undefined ? [] : value.split(',')}
          onChange={(chosen) => onChange(chosen.length === 0 ? undefined : chosen.join(','))}
          clearable
        />
      )
    case 'flag':
      return (
        <Select
          size="xs"
          w={110}
          label={title}
          data={[
            { value: 'true', label: 'yes' },
            { value: 'false', label: 'no' },
          ]}
          value={value ?? null}
          onChange={(chosen) => onChange(chosen ?? undefined)}
          clearable
        />
      )
    case 'day':
      return (
        <TextInput
          size="xs"
          type="date"
          label={title}
          value={value?.slice(0, 10) ?? ''}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : new Date(`${currentTarget.value}T00:00`).toISOString())
          }
        />
      )
  }
}

/** Asks when the person has stopped typing, or presses Enter. */
function TextFilter({ title, value, onChange }: { title: string } & Omit<OneProps, 'filter'>) {
  const [text, setText] = useState(value ?? '')
  useEffect(() => setText(value ?? ''), [value])
  const send = () => {
    const wanted = text.trim() === '' ? undefined : text.trim()
    if (wanted !== value) onChange(wanted)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another text starts the wait again
  useEffect(() => {
    const timer = setTimeout(send, 500)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextInput
      size="xs"
      label={title}
      value={text}
      maxLength={200}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && send()}
      onBlur={send}
    />
  )
}
