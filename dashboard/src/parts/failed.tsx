// What went wrong with a request: the sentence and code of the API, the request's id for support, and a way to try again.

import { CountersignError } from '@countersign/client'
import { Alert, Button, Code, Group, Text, Title } from '@mantine/core'
import { RotateCcw } from 'lucide-react'

export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = error instanceof CountersignError ? error : undefined
  return (
    <Alert color="red" title={known === undefined ? 'The page failed' : titleOf(known)} role="alert">
      <Text size="sm">
        {known?.detail ?? (error instanceof Error ? error.message : 'Something unexpected happened.')}
      </Text>
      {known?.errors.map(({ pointer, detail }) => (
        <Text size="sm" key={`${pointer}${detail}`}>
          <Code>{pointer}</Code> {detail}
        </Text>
      ))}
      <Group mt="sm" gap="sm">
        {onRetry !== undefined && (
          <Button size="xs" variant="light" leftSection={<RotateCcw size={14} />} onClick={onRetry}>
            Try again
          </Button>
        )}
        {known !== undefined && (
          <Text size="xs" c="dimmed">
            {known.code} {known.requestId}
          </Text>
        )}
      </Group>
    </Alert>
  )
}

function titleOf({ status, code }: CountersignError): string {
  if (code === 'session_required') return 'Sign in again to do this'
  if (status === 403) return 'Your role does not allow this'
  if (status === 404) return 'There is no such thing in this environment'
  if (status === 409 || status === 412) return 'Somebody else changed it first'
  if (status === 429) return 'Too many requests'
  if (status === 503) return 'The service is busy or restarting'
  return 'The request failed'
}

/** For pages whose permission the user lacks. */
export function Forbidden({ permission }: { permission: string }) {
  return (
    <Alert color="yellow">
      <Title order={1} size="h5">
        Your role does not allow this page
      </Title>
      <Text size="sm">
        It takes the permission <Code>{permission}</Code>. An owner or admin of the account can give you a role that has
        it: <a href="/docs/roles">what each role may do</a>.
      </Text>
    </Alert>
  )
}
