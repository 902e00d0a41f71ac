// One field of a form that a button opens. Every value is a text, so that a draft of the form can be kept.

import { Checkbox, MultiSelect, PasswordInput, Select, Textarea, TextInput } from '@mantine/core'

export interface ActField {
  name: string
  title: string
  about?: string
  /**
   * `time` is a time of the reader's zone: empty, or as the browser's field gives it. The values of `choices` are joined by
   * commas. `flag` is `true` or empty. A `secret` is in no draft.
   */
  kind?: 'text' | 'area' | 'time' | 'choice' | 'choices' | 'flag' | 'secret'
  /** The values of `choice` and `choices`. */
  values?: readonly Choice[]
  /** Its value before anybody changed it. */
  initial?: string
  isRequired?: boolean
  maxLength?: number
}

export type Choice = string | { value: string; label: string }

interface FieldProps {
  field: ActField
  value: string
  onChange(value: string): void
}

export function Field({ field, value, onChange }: FieldProps) {
  const { title, about, kind = 'text', values = [], isRequired = false, maxLength } = field
  const common = { label: title, description: about, required: isRequired, maxLength }
  switch (kind) {
    case 'area':
      return (
        <Textarea
          {...common}
          value={value}
          rows={8}
          ff="monospace"
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          data={[...values]}
          value={value === '' ? null : value}
          onChange={(chosen) => onChange(chosen ?? '')}
          allowDeselect={!isRequired}
        />
      )
    case 'choices':
      return (
        <MultiSelect
          {...common}
          data={[...values]}
          value={listOf(value)}
          onChange={(chosen) => onChange(chosen.join(','))}
        />
      )
    case 'flag':
      return (
        <Checkbox
          label={title}
          description={about}
          checked={value === 'true'}
          onChange={(event) => onChange(event.currentTarget.checked ? 'true' : '')}
        />
      )
    case 'secret':
      return (
        <PasswordInput
          {...common}
          value={value}
          autoComplete="off"
          visibilityToggleButtonProps={{ 'aria-label': `Show: ${title}` }}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    default:
      return (
        <TextInput
          {...common}
          value={value}
          type={kind === 'time' ? 'datetime-local' : 'text'}
          step={kind === 'time' ? 1 : undefined}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}

/** The values of a field of kind `choices`, or of a text with commas, spaces or lines between its parts. */
export function listOf(value: string | undefined): string[] {
  return (value ?? '').split(/[\s,]+/).filter((part) => part !== '')
}
