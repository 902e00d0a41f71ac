// Ctrl K: goes to a page, or to what an id, a reference or a name leads to.

import { useDebouncedValue } from '@mantine/hooks'
import { Spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { pathOfId, sectionsFor } from './sections.ts'
import { useClient, useSession } from './session.tsx'

// Below this, the search would find a part of everything.
const MIN_CHARACTERS = 3

export function Palette() {
  const { session, environment, may } = useSession()
  const client = useClient()
  const navigate = useNavigate()
  const [query, setQuery] = useState('')
  const [text] = useDebouncedValue(query.trim(), 200)
  const { data, isFetching, isError } = useQuery({
    queryKey: ['search', environment, text],
    queryFn: ({ signal }) => client.overview.search({ q: text }, { signal }),
    enabled: text.length >= MIN_CHARACTERS,
  })
  const open = (path: string) => void navigate({ to: `/${environment}/${path}` })
  const pages = sectionsFor(may, session.account.products).flatMap(({ sections }) => sections)
  const asked = query.trim().toLowerCase()
  const wanted = pages.filter(({ title }) => title.toLowerCase().includes(asked))
  const found = (data?.data ?? []).flatMap(({ type, id, title }) => {
    const path = pathOfId(id)
    return path === undefined ? [] : [{ type, id, title, path }]
  })
  return (
    <Spotlight.Root query={query} onQueryChange={setQuery} shortcut="mod + K" tagsToIgnore={[]} clearQueryOnClose>
      <Spotlight.Search placeholder="An id, a claim reference, a name or a page" aria-label="Search" />
      <Spotlight.ActionsList>
        {found.length > 0 && (
          <Spotlight.ActionsGroup label="Found">
            {found.map(({ type, id, title, path }) => (
              <Spotlight.Action key={id} label={title} description={`${type} ${id}`} onClick={() => open(path)} />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {wanted.length > 0 && (
          <Spotlight.ActionsGroup label="Pages">
            {wanted.map(({ title, path }) => (
              <Spotlight.Action key={path} label={title} onClick={() => open(path)} />
            ))}
          </Spotlight.ActionsGroup>
        )}
        {found.length === 0 && wanted.length === 0 && (
          <Spotlight.Empty>
            {isFetching
              ? 'Searching...'
              : isError
                ? 'The search failed.'
                : 'Nothing has such an id, reference or name.'}
          </Spotlight.Empty>
        )}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  )
}
