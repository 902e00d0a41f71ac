// Stops all agents of the account in this environment, and resumes them. Both take two steps.

import { Alert, Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failed } from '../parts/failed.tsx'
import { useClient, useSession } from './session.tsx'

const CONFIRMATION = 'stop'

interface EmergencyStopProps {
  isOpen: boolean
  onClose(): void
  stoppedAt: string | null
}

export function EmergencyStop({ isOpen, onClose, stoppedAt }: EmergencyStopProps) {
  const { environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const change = useMutation({
    mutationFn: () => (stoppedAt === null ? client.intent.stop({ reason }) : client.intent.resume()),
    onSuccess: async () => {
      setTyped('')
      setReason('')
      await cache.invalidateQueries({ queryKey: ['overview', environment] })
      onClose()
    },
  })
  const isStopped = stoppedAt !== null
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={isStopped ? `Resume all agents in ${environment}` : `Stop all agents in ${environment}`}
    >
      <Stack>
        <Text size="sm">
          {isStopped
            ? 'Tokens that were revoked by the stop stay revoked. Agents can be authorized again.'
            : 'Every verification is refused from now on, also of tokens that were issued before, until somebody resumes.'}
        </Text>
        {!isStopped && (
          <>
            <TextInput
              label="Reason"
              description="Shown to everybody who asks why an action was refused"
              required
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value)}
            />
            <TextInput
              label={`Type “${CONFIRMATION}” to confirm`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
            />
          </>
        )}
        {change.isError && <Failed error={change.error} />}
        {!isStopped && environment === 'live' && <Alert color="red">This is the live environment.</Alert>}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color={isStopped ? undefined : 'red'}
            loading={change.isPending}
            disabled={!isStopped && (typed !== CONFIRMATION || reason.trim() === '')}
            onClick={() => change.mutate()}
          >
            {isStopped ? 'Resume' : 'Stop all agents'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
