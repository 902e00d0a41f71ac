import { describe, expect, it } from 'vitest'
import { highlight } from '#src/docs/highlight.ts'
import { renderMarkdown } from '#src/docs/markdown.ts'

const lead = (target: string) => (/^(?:https:|#|[a-z]+$)/.test(target) ? target : undefined)
const bodyOf = (markdown: string) => renderMarkdown(markdown, lead).body.text.trim()

describe('Markdown', () => {
  it('becomes headings with anchors, lists, tables, code and links', () => {
    const { title, sections, body } = renderMarkdown(
      '# One `two`\n\nA *b* **c** [d](page).\n\n## Same\n\n- x\n- y\n\n## Same\n\n| a | b |\n| - | - |\n| `1` | 2 |\n\n```sh\ncurl x # y\n```\n',
      lead,
    )
    expect(title).toBe('One two')
    expect(sections.map(({ anchor }) => anchor)).toEqual(['one-two', 'same', 'same-1'])
    expect(sections.map(({ content }) => content)).toEqual(['A b c d.', 'x y', 'a b 1 2 curl x # y'])
    for (const part of [
      '<h1 id="one-two">One <code>two</code></h1>',
      '<p>A <em>b</em> <strong>c</strong> <a href="page">d</a>.</p>',
      '<h2 id="same-1">',
      '<li>x</li>',
      '<td><code>1</code></td><td>2</td>',
      '<pre tabindex="0"><code><span class="w">curl</span> x <span class="c"># y</span></code></pre>',
    ]) {
      expect(body.text).toContain(part)
    }
  })

  it('shows blocks that say the same in several languages as tabs', () => {
    const block = (language: string) => `\`\`\`${language}\nx\n\`\`\`\n\n`
    const namesOf = (markdown: string) =>
      bodyOf(markdown)
        .split('<div class="tabs">')
        .slice(1)
        .map((group) => [...group.matchAll(/<div class="tab"><p>(.*?)<\/p>/g)].map(([, name]) => name))
    expect(namesOf(block('sh') + block('ts') + block('python') + block('text'))).toEqual([
      ['curl', 'TypeScript', 'Python'],
    ])
    expect(namesOf(block('sh') + block('ts') + block('sh') + block('python'))).toEqual([
      ['curl', 'TypeScript'],
      ['curl', 'Python'],
    ])
    expect(namesOf(`${block('sh')}Then\n\n${block('ts')}${block('text')}`)).toEqual([])
  })

  it('escapes raw HTML as text, in every place', () => {
    const raw = '<img src=x onerror=alert(1)>'
    for (const markdown of [
      raw,
      `a ${raw} b`,
      `# ${raw}`,
      `- ${raw}`,
      `| ${raw} |\n| - |\n| ${raw} |`,
      `[${raw}](page)`,
      `> ${raw}`,
      `<script>alert(1)</script>\n\n${raw}`,
      `\`${raw}\``,
      `\`\`\`\n${raw}\n\`\`\``,
      `![${raw}](x)`,
    ]) {
      expect([markdown, /<(?:img|script)/.test(bodyOf(markdown))]).toEqual([markdown, false])
      expect(bodyOf(markdown)).toContain('&lt;img')
    }
  })

  it('links only to permitted targets, and never to a script', () => {
    for (const target of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      '//evil.test/x',
    ]) {
      expect([target, bodyOf(`[a](${target})`).includes('<a ')]).toEqual([target, false])
    }
    expect(bodyOf('[a](https://x.test/?a=1&b="2")')).not.toContain('"2"')
  })

  it('shows pictures that are served here, and names all others', () => {
    const leadOf = (target: string) => (target.startsWith('pictures/') ? `../assets/${target.slice(9)}` : target)
    const shown = (markdown: string) => renderMarkdown(markdown, leadOf).body.text.trim()
    expect(shown('![a "case"](pictures/case.webp)')).toBe(
      '<p><img src="../assets/case.webp" alt="a &quot;case&quot;" loading="lazy"></p>',
    )
    expect(shown('![x](https://evil.test/x.png)')).toBe('<p><a href="https://evil.test/x.png">x</a></p>')
    expect(bodyOf('![x](javascript:alert(1))')).not.toContain('<img')
  })

  it('shows the characters that the documents write as entities', () => {
    expect(bodyOf('a &lt;b&gt; &amp; c')).toBe('<p>a &lt;b&gt; &amp; c</p>')
    expect(bodyOf('`&lt;b`')).toBe('<p><code>&amp;lt;b</code></p>')
  })
})

describe('highlighting', () => {
  it('changes no character, whatever the text', () => {
    const hostile = ['"', "'", '`', '//', '#', '/*', '<', '\\', '\n', 'import', '{', 'curl '].flatMap((one) => [
      one,
      one.repeat(50),
    ])
    for (const language of ['ts', 'python', 'sh', 'json', '', 'unknown', 'text']) {
      for (const text of hostile) {
        const plain = highlight(text, language).text.replaceAll(/<\/?span[^>]*>/g, '')
        expect(plain.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&#39;', "'")).toBe(text)
      }
    }
  })
})
