// A change with a few fields: a button opens a form, the form may say what follows before it is sent, and it is sent once.

import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { useClient, useSession } from '../app/session.tsx'
import type { Client } from '../recipe/list-page.tsx'
import { type ActField, Field } from './act-field.tsx'
import { useDraft } from './draft.ts'
import { Failed } from './failed.tsx'
import { StillWaiting, useOnceKey, useOneAtATime } from './send.tsx'

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
  /** The button of a row of a list. */
  isSmall?: boolean
  /** A text that has to be typed before it is sent. */
  typed?: string
  /** What follows from these values: shown, and confirmed, before they are sent. */
  review?(values: Values): ReactNode
  send(client: Client, values: Values, options: { idempotencyKey: string }): PromiseLike<Answer>
  onDone?(answer: Answer): void
  /** What is shown in place of the form after it was sent, such as a secret; without it the form closes. */
  result?(answer: Answer): ReactNode
}

export type Values = Readonly<Record<string, string>>
const NO_FIELDS: readonly ActField[] = []

export function Act<Answer>(props: ActProps<Answer>) {
  const { title, permission, isDangerous = false, isSmall = false } = props
  const { may } = useSession()
  const [isOpen, form] = useDisclosure()
  if (!may(permission)) return null
  return (
    <>
      <Button
        size={isSmall ? 'compact-xs' : 'xs'}
        variant={isDangerous || isSmall ? 'default' : 'filled'}
        onClick={form.open}
      >
        {title}
      </Button>
      <Modal opened={isOpen} onClose={form.close} title={title} size="lg" closeOnClickOutside={false}>
        <Form {...props} onClose={form.close} />
      </Modal>
    </>
  )
}

function Form<Answer>(props: ActProps<Answer> & { onClose(): void }) {
  const { title, name, about, fields = NO_FIELDS, isDangerous = false, typed, review, send, onDone, result } = props
  const { onClose } = props
  const client = useClient()
  const { session } = useSession()
  const cache = useQueryClient()
  const [empty] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, field.initial ?? ''])),
  )
  const [confirmation, setConfirmation] = useState('')
  // A draft is stored in the browser, so secrets are no part of it.
  const [secrets, setSecrets] = useState<Record<string, string>>({})
  const { draft, change, clear } = useDraft(name, empty)
  const values = { ...draft, ...secrets }
  const [isReviewed, setIsReviewed] = useState(false)
  const { keyOf, renew } = useOnceKey()
  const { start, end } = useOneAtATime()
  const act = useMutation({
    mutationFn: async () => await send(client, values, { idempotencyKey: keyOf(values) }),
    onSuccess: async (answer) => {
      renew()
      clear()
      if (result === undefined) {
        await cache.invalidateQueries()
        onClose()
      } else {
        // Another state of the row could take the form away with what it shows: the page is read again when it closes.
        await cache.invalidateQueries({ refetchType: 'none' })
      }
      onDone?.(answer)
    },
    onSettled: end,
  })
  useEffect(() => {
    if (!act.isSuccess) return
    return () => void cache.invalidateQueries()
  }, [act.isSuccess, cache])
  // An act that asked for a new sign-in has it now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another session ends what was refused
  useEffect(() => act.reset(), [session.sessionId])
  const isLast = review === undefined || isReviewed
  if (act.isSuccess && result !== undefined) {
    return (
      <Stack>
        {result(act.data)}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isLast) setIsReviewed(true)
    else start(() => act.mutate())
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {about !== undefined && (
          <Text size="sm" component="div">
            {about}
          </Text>
        )}
        {isReviewed
          ? review?.(values)
          : fields.map((field) => (
              <Field
                key={field.name}
                field={field}
                value={values[field.name] ?? ''}
                onChange={(value) =>
                  field.kind === 'secret'
                    ? setSecrets({ ...secrets, [field.name]: value })
                    : change({ [field.name]: value })
                }
              />
            ))}
        {typed !== undefined && isLast && (
          <TextInput
            label={`Type “${typed}” to confirm`}
            value={confirmation}
            autoComplete="off"
            onChange={(event) => setConfirmation(event.currentTarget.value)}
          />
        )}
        {act.isError && <Failed error={act.error} />}
        <StillWaiting isPending={act.isPending} />
        <Group justify="flex-end">
          <Button variant="default" onClick={() => (isReviewed ? setIsReviewed(false) : onClose())}>
            {isReviewed ? 'Back' : 'Cancel'}
          </Button>
          <Button
            type="submit"
            loading={act.isPending}
            disabled={typed !== undefined && isLast && confirmation !== typed}
            color={isDangerous && isLast ? 'red' : undefined}
          >
            {isLast ? title : 'Continue'}
          </Button>
        </Group>
      </Stack>
    </form>
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
