// Erases a claim's media and positions permanently. The person types what is erased; the API logs who did it.

import type { Claim } from '@countersign/client'
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { StillWaiting, useOnceKey } from '../../parts/send.tsx'

// A reference may have 255 characters in any script: then the end of the id is typed.
const MAX_TYPED = 24
const ID_END = 6

interface EraseProps {
  claim: Claim
  isOpen: boolean
  onClose(): void
}

export function Erase({ claim, isOpen, onClose }: EraseProps) {
  const client = useClient()
  const cache = useQueryClient()
  const [typed, setTyped] = useState('')
  const { keyOf, renew } = useOnceKey()
  const { claimId, reference } = claim
  const expected = reference !== null && reference.length <= MAX_TYPED ? reference : claimId.slice(-ID_END)
  const erase = useMutation({
    mutationFn: () => client.claims.erase(claimId, { idempotencyKey: keyOf(claimId) }),
    onSuccess: async () => {
      renew()
      await cache.invalidateQueries()
      onClose()
    },
  })
  return (
    <Modal opened={isOpen} onClose={onClose} title="Erase the claim">
      <Stack>
        <Text size="sm">
          Its photos, videos, small pictures and positions are deleted now and permanently, with the notes of its cases.
          Hashes, findings and signed results stay. Later captures with the same reference are refused. The audit log
          records who erased it.
        </Text>
        <TextInput
          label={`Type ${expected} to confirm`}
          description={expected === reference ? 'The reference of the claim' : 'The end of its id'}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
        {erase.isError && <Failed error={erase.error} onRetry={() => erase.mutate()} />}
        <StillWaiting isPending={erase.isPending} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            color="red"
            loading={erase.isPending}
            disabled={typed.trim() !== expected}
            onClick={() => erase.mutate()}
          >
            Erase
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
