// A change with a few fields: a button opens a form, the form may say what follows before it is sent, and it is sent once.

import { Button, Group, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useState } from 'react'
import { useClient, useSession } from '../app/session.tsx'
import type { Client } from '../recipe/list-page.tsx'
import { useDraft } from './draft.ts'
import { Failed } from './failed.tsx'
import { StillWaiting, useOnceKey } from './send.tsx'

export interface ActField {
  name: string
  title: string
  about?: string
  /** `time` is a time of the reader's zone: empty, or as the browser's field gives it. */
  kind?: 'text' | 'area' | 'time'
  isRequired?: boolean
  maxLength?: number
}

interface ActProps<Answer> {
  /** What the button says, also the title of the form. */
  title: string
  /** Without it the button is not shown. */
  permission: string
  /** Distinguishes the draft. */
  name: string
  about?: ReactNode
  fields?: readonly ActField[]
  isDangerous?: boolean
  /** What follows from these values: shown, and confirmed, before they are sent. */
  review?(values: Values): ReactNode
  send(client: Client, values: Values, options: { idempotencyKey: string }): PromiseLike<Answer>
  onDone?(answer: Answer): void
}

type Values = Readonly<Record<string, string>>
const NO_FIELDS: readonly ActField[] = []

export function Act<Answer>(props: ActProps<Answer>) {
  const { title, permission, isDangerous = false } = props
  const { may } = useSession()
  const [isOpen, form] = useDisclosure()
  if (!may(permission)) return null
  return (
    <>
      <Button size="xs" variant={isDangerous ? 'default' : 'filled'} onClick={form.open}>
        {title}
      </Button>
      <Modal opened={isOpen} onClose={form.close} title={title} size="lg">
        <Form {...props} onClose={form.close} />
      </Modal>
    </>
  )
}

function Form<Answer>(props: ActProps<Answer> & { onClose(): void }) {
  const { title, name, about, fields = NO_FIELDS, isDangerous = false, review, send, onDone, onClose } = props
  const client = useClient()
  const cache = useQueryClient()
  const [empty] = useState<Record<string, string>>(() => Object.fromEntries(fields.map((field) => [field.name, ''])))
  const { draft, change, clear } = useDraft(name, empty)
  const [isReviewed, setIsReviewed] = useState(false)
  const { keyOf, renew } = useOnceKey()
  const act = useMutation({
    mutationFn: async () => await send(client, draft, { idempotencyKey: keyOf(draft) }),
    onSuccess: async (answer) => {
      renew()
      clear()
      await cache.invalidateQueries()
      onClose()
      onDone?.(answer)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (review !== undefined && !isReviewed) setIsReviewed(true)
    else if (!act.isPending) act.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {about !== undefined && <Text size="sm">{about}</Text>}
        {isReviewed
          ? review?.(draft)
          : fields.map((field) => (
              <Field
                key={field.name}
                field={field}
                value={draft[field.name] ?? ''}
                onChange={(value) => change({ [field.name]: value })}
              />
            ))}
        {act.isError && <Failed error={act.error} />}
        <StillWaiting isPending={act.isPending} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => (isReviewed ? setIsReviewed(false) : onClose())}>
            {isReviewed ? 'Back' : 'Cancel'}
          </Button>
          <Button
            type="submit"
            loading={act.isPending}
            color={isDangerous && (review === undefined || isReviewed) ? 'red' : undefined}
          >
            {review !== undefined && !isReviewed ? 'Continue' : title}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function Field({ field, value, onChange }: { field: ActField; value: string; onChange(value: string): void }) {
  const { title, about, kind = 'text', isRequired = false, maxLength } = field
  const common = { label: title, description: about, required: isRequired, value, maxLength }
  if (kind === 'area') {
    return <Textarea {...common} rows={8} ff="monospace" onChange={(event) => onChange(event.currentTarget.value)} />
  }
  return (
    <TextInput
      {...common}
      type={kind === 'time' ? 'datetime-local' : 'text'}
      step={kind === 'time' ? 1 : undefined}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

/** The time of a field of kind `time`; undefined where it is empty. */
export function timeOf(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : new Date(value).toISOString()
}

/** A text that was left out is no empty text. */
export function textOf(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
