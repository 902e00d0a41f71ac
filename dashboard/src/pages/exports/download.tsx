// The browser itself downloads the archive, which may be larger than a page can hold. What would refuse it is asked for one
// byte before, so that a sign-in that is too old is asked for on the page.

import type { AccountExport } from '@countersign/client'
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useClient } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'

export function Download({ archive: { exportId, status, expiresAt } }: { archive: AccountExport }) {
  const client = useClient()
  const download = useMutation({
    mutationFn: async () => {
      const answer = await client.account.exports.download(exportId, { range: 'bytes=0-0' })
      await answer.arrayBuffer()
    },
    onSuccess: () => {
      const link = document.createElement('a')
      link.href = `/v1/account/exports/${exportId}/download`
      link.download = `${exportId}.zip`
      link.click()
    },
  })
  const isThere = status === 'succeeded' && expiresAt !== null && Date.parse(expiresAt) > Date.now()
  if (!isThere) return null
  return (
    <>
      <Button size="xs" loading={download.isPending} onClick={() => download.mutate()}>
        Download
      </Button>
      {download.isError && <Failed error={download.error} />}
    </>
  )
}
