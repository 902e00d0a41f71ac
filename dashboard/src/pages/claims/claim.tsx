// A claim with everything that is known of it. A case has a part of this page at its left.

import type { Claim } from '@countersign/client'
import { Button, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { FileText } from 'lucide-react'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useOnceKey } from '../../parts/send.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage } from '../../recipe/detail-page.tsx'
import { Captures } from './captures.tsx'
import { Duplicates } from './duplicates.tsx'
import { Erase } from './erase.tsx'
import { Screenings } from './screenings.tsx'
import { Timeline } from './timeline.tsx'

const page: DetailPage<Claim> = {
  kind: 'Claim',
  name: 'claims',
  permission: 'claims.read',
  listPath: 'claims',
  retrieve: (client, id, signal) => client.claims.retrieve(id, { signal }),
  titleOf: ({ reference }) => reference,
  statusOf: ({ riskStatus }) => riskStatus,
  facts: ({ claimId, riskScore, provenanceStatus, caseId, line, lossAt, createdAt, updatedAt, erasedAt }) => [
    ['Score', <Num key="score" value={riskScore} />],
    ['Provenance', <Status key="provenance" value={provenanceStatus} />],
    ['Open case', <Id key="case" id={caseId} />],
    ['As lists', <Lists key="lists" claimId={claimId} />],
    ...(line === null ? [] : [['Line', line] as const]),
    ['Loss', <Time key="loss" at={lossAt} />],
    ['Created', <Time key="created" at={createdAt} />],
    ['Changed', <Time key="updated" at={updatedAt} />],
    ...(erasedAt === null ? [] : [['Erased', <Time key="erased" at={erasedAt} />] as const]),
  ],
  actions: (claim) => <Actions claim={claim} />,
  children: (claim) => <Body claim={claim} />,
}

export const Page = () => <Detail page={page} />

function Lists({ claimId }: { claimId: string }) {
  const { environment } = useSession()
  return (
    <Group gap="sm">
      <Link {...addressOf(environment, `claims/${claimId}/attestations`)}>Captures</Link>
      <Link {...addressOf(environment, `claims/${claimId}/duplicates`)}>Duplicates</Link>
    </Group>
  )
}

function Body({ claim }: { claim: Claim }) {
  const { may } = useSession()
  return (
    <>
      <Captures claim={claim} />
      <Duplicates claimId={claim.claimId} />
      {may('screening.read') && <Screenings claimId={claim.claimId} />}
      <Timeline claimId={claim.claimId} />
    </>
  )
}

function Actions({ claim }: { claim: Claim }) {
  const { environment, may } = useSession()
  const client = useClient()
  const navigate = useNavigate()
  const [isErasing, erasing] = useDisclosure()
  const { keyOf, renew } = useOnceKey()
  const { claimId, caseId, erasedAt } = claim
  const open = useMutation({
    mutationFn: () => client.cases.create({ claimId }, { idempotencyKey: keyOf(claimId) }),
    onSuccess: ({ caseId: opened }) => {
      renew()
      void navigate(addressOf(environment, `cases/${opened}`))
    },
  })
  return (
    <>
      {open.isError && <Failed error={open.error} />}
      <Group gap="xs">
        <Button
          component="a"
          href={`/v1/claims/${claimId}/evidence?format=pdf`}
          download
          variant="default"
          size="xs"
          leftSection={<FileText size={14} />}
        >
          Evidence PDF
        </Button>
        {may('claims.erase') && erasedAt === null && (
          <Button variant="default" size="xs" color="red" onClick={erasing.open}>
            Erase
          </Button>
        )}
        {caseId === null && erasedAt === null && may('cases.write') && (
          <Button size="xs" loading={open.isPending} onClick={() => open.mutate()}>
            Open a case
          </Button>
        )}
        {caseId !== null && may('cases.read') && (
          <Button size="xs" onClick={() => void navigate(addressOf(environment, `cases/${caseId}`))}>
            Go to its case
          </Button>
        )}
      </Group>
      <Erase claim={claim} isOpen={isErasing} onClose={erasing.close} />
    </>
  )
}
