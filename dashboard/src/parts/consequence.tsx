// What follows from an act, for its second step: it is read before it is sent.

import { Alert, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSession } from '../app/session.tsx'

interface ConsequenceProps {
  title: string
  /** The words of the person, where the act takes a reason. */
  reason?: string | undefined
  /** It lets something run again, or changes nothing that runs. */
  isHarmless?: boolean
  children: ReactNode
}

export function Consequence({ title, reason, isHarmless = false, children }: ConsequenceProps) {
  const { environment } = useSession()
  return (
    <Stack gap="xs">
      <Alert color={isHarmless ? undefined : 'red'} title={title}>
        <Text size="sm">{children}</Text>
        {environment === 'live' && (
          <Text size="sm" fw={600}>
            This is the live environment.
          </Text>
        )}
      </Alert>
      {reason !== undefined && reason !== '' && <Text size="sm">Reason: “{reason}”</Text>}
    </Stack>
  )
}
