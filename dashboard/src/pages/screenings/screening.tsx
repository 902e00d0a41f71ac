import type { Screening } from '@countersign/client'
import { Stack, Text } from '@mantine/core'
import { Evidence } from '../../parts/finding.tsx'
import { formatPercent } from '../../parts/measures.ts'
import { Reason } from '../../parts/reason.tsx'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { Thumbnail } from '../claims/picture.tsx'
import { Share } from './list.tsx'

const page: DetailPage<Screening> = {
  kind: 'Screening',
  name: 'screenings',
  permission: 'screening.read',
  listPath: 'screenings',
  retrieve: (client, id, signal) => client.screenings.retrieve(id, {}, { signal }),
  statusOf: ({ status }) => status,
  facts: ({ failure, claimId, mediaId, genaiScore, deepfakeScore, detector, isCached, createdAt, completedAt }) => [
    ...(failure === null ? [] : [['Why there is no score', failure.detail] as const]),
    ['Claim', <Id key="claim" id={claimId} />],
    ['Media', <Id key="media" id={mediaId} />],
    ['Generated', <Share key="genai" value={genaiScore} />],
    ['Replaced face', <Share key="face" value={deepfakeScore} />],
    ['Detector', detector === null ? <Nothing key="none" /> : `${detector.name}${isCached ? ', asked earlier' : ''}`],
    ['Created', <Time key="created" at={createdAt} />],
    ['Completed', <Time key="completed" at={completedAt} />],
  ],
  children: ({ mediaId, erasedAt, factors, models }) => (
    <>
      {erasedAt === null && <Thumbnail mediaId={mediaId} height={260} alt="What was screened" />}
      <Part title="Findings">
        <Stack gap="xs">
          {factors.length === 0 && <Text size="sm">Nothing reached the threshold of the account.</Text>}
          {factors.map(({ code, evidence }) => (
            <div key={code}>
              <Reason code={code} />
              <Evidence evidence={evidence} />
            </div>
          ))}
        </Stack>
      </Part>
      {models.length > 0 && (
        <Part title="Generators that it resembles">
          {models.map(({ model, score }) => (
            <Text key={model} size="sm">
              {model}: {formatPercent(score)}
            </Text>
          ))}
        </Part>
      )}
    </>
  ),
  hasEvents: true,
}

export const Page = () => <Detail page={page} />
