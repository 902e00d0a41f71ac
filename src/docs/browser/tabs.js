// Turns blocks that say the same in several languages into tabs. All groups of a page show the language that was chosen
// last, and the next page begins with it.

const STORED = 'countersign-language'

export function makeTabs(places) {
  const groups = [...places].map(makeGroup)

  function choose(language, { pressed } = {}) {
    const before = pressed?.getBoundingClientRect().top
    for (const group of groups) group.show(language)
    // Groups above may have become longer or shorter: what was pressed stays where it is.
    if (pressed !== undefined)
      window.scrollBy({ top: pressed.getBoundingClientRect().top - before, behavior: 'instant' })
  }

  for (const { tabs } of groups) {
    for (const [index, tab] of tabs.entries()) {
      const press = (one) => {
        store(one.textContent)
        choose(one.textContent, { pressed: one })
      }
      tab.addEventListener('click', () => press(tab))
      tab.addEventListener('keydown', ({ key }) => {
        const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[key]
        if (target === undefined) return
        const next = tabs.at(target % tabs.length)
        press(next)
        next.focus()
      })
    }
  }
  choose(stored())
}

let count = 0

function makeGroup(place) {
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const panels = [...place.children]
  const tabs = panels.map((panel) => {
    count += 1
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.id = `tab-${count}`
    tab.setAttribute('role', 'tab')
    tab.textContent = panel.firstElementChild.textContent
    panel.firstElementChild.remove()
    panel.id = `panel-${count}`
    panel.setAttribute('role', 'tabpanel')
    panel.setAttribute('aria-labelledby', tab.id)
    tab.setAttribute('aria-controls', panel.id)
    list.append(tab)
    return tab
  })
  place.prepend(list)
  return {
    tabs,
    show(language) {
      // A group may lack a language.
      const shown = Math.max(
        tabs.findIndex((tab) => tab.textContent === language),
        0,
      )
      for (const [index, tab] of tabs.entries()) {
        tab.setAttribute('aria-selected', String(index === shown))
        tab.tabIndex = index === shown ? 0 : -1
        panels[index].hidden = index !== shown
      }
    },
  }
}

// Browsers may forbid the storage.
function stored() {
  try {
    return window.localStorage.getItem(STORED)
  } catch {
    return null
  }
}

function store(language) {
  try {
    window.localStorage.setItem(STORED, language)
  } catch {}
}
