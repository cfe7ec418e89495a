// Ranking of the search. The search of Sphinx finds only pages with every word of a query. This one
// finds pages with any of them, and ranks a page by the words that it has: a rare word counts more
// than a frequent one, a word in a title more than one in the text, and in the text of a short page
// more than in that of a long one. It replaces two functions of searchtools.js.

const SearchRanking = (() => {
  // Words that say nothing about the subject. The index does not have those in `stopwords`.
  const EMPTY_WORDS = new Set(
    ('across can could default do does get give go has have how i is make me my need please should'
      + ' tell there use using want way what when where which who why will with work would you your'
      + ' per').split(' '),
  )
  // Numbers are not in the index, and a query with one is most often about a status of HTTP.
  const STATUS = /^[2345]\d\d$/
  const TITLE = 3
  const KEYWORD = 2
  const SECTION = 1.4
  const FULL_TITLE = 4
  const FULL_KEYWORD = 3
  const FULL_SECTION = 2
  const PARTIAL = 0.5
  const OBJECTS_FIRST = 2
  const SHORT = 3 // characters; shorter words match whole words only
  const GROUPS = [
    [/^(?:changelog|contributing|security)$/, 0.4],
    [/^reference\//, 0.75],
    [/^(?:migrating|questions\/|tutorial\/|examples\/)/, 0.95],
  ]

  let statistics = null

  const asList = (files) => (files === undefined ? [] : [files].flat())

  const stemsOf = (stemmer, text) =>
    splitQuery(text.toLowerCase())
      .filter((word) => !stopwords.has(word) && !EMPTY_WORDS.has(word))
      .map((word) => stemmer.stemWord(word))

  // Statistics of the index: lengths of the pages, stems of all titles and of the keywords.
  const collect = (index, stemmer) => {
    const lengths = index.docnames.map(() => 0)
    for (const files of Object.values(index.terms))
      for (const file of asList(files)) lengths[file] += 1
    const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
    const sections = Object.entries(index.alltitles).flatMap(([title, places]) => {
      const stems = new Set(stemsOf(stemmer, title))
      return places.map(([file, anchor]) => ({ file, anchor, title, stems }))
    })
    const titles = index.titles.map((title) => new Set(stemsOf(stemmer, title)))
    const keywords = index.docnames.map(() => [])
    for (const [entry, places] of Object.entries(index.indexentries))
      // Sphinx adds entries such as `enter() (seamwise.policies.Layer method)`.
      if (!entry.includes('('))
        for (const [file] of places) keywords[file].push(new Set(stemsOf(stemmer, entry)))
    return { lengths, average, sections, titles, keywords }
  }

  // The pages with a word in their text, each with the weight of the match.
  const filesWith = (index, word) => {
    const exact = [...asList(index.terms[word]), ...asList(index.titleterms[word])]
    if (exact.length > 0 || word.length <= SHORT) return new Map(exact.map((file) => [file, 1]))
    const parts = [index.terms, index.titleterms].flatMap((terms) =>
      Object.keys(terms)
        .filter((term) => term.includes(word))
        .flatMap((term) => asList(terms[term])),
    )
    return new Map(parts.map((file) => [file, PARTIAL]))
  }

  const wordsOf = (query, stemmer) => {
    const words = splitQuery(query.toLowerCase()).map((word) =>
      STATUS.test(word) ? 'status' : word,
    )
    const telling = words.filter((word) => !stopwords.has(word) && !EMPTY_WORDS.has(word))
    return new Set((telling.length > 0 ? telling : words).map((word) => stemmer.stemWord(word)))
  }

  const sum = (words, weights) =>
    [...words].reduce((total, word) => total + (weights.get(word) ?? 0), 0)

  // Similarity of a title and the query, 0 to 1: the share of the title that the query names, times
  // the share of the query that the title has.
  const likeness = (stems, weights, rarity) => {
    const shared = [...stems].filter((stem) => weights.has(stem))
    if (shared.length === 0) return 0
    const common = sum(shared, weights)
    const ofTitle = common / [...stems].reduce((total, stem) => total + rarity(stem), 0)
    return ofTitle * (common / sum(weights.keys(), weights))
  }

  const rankPages = (index, words) => {
    const { lengths, average, sections, titles, keywords } = statistics
    const count = index.docnames.length
    const found = new Map([...words].map((word) => [word, filesWith(index, word)]))
    const rarityOf = (size) => Math.log(1 + count / (1 + size))
    const rarity = (stem) => rarityOf((found.get(stem) ?? filesWith(index, stem)).size)
    const weights = new Map(
      [...found]
        .filter(([, files]) => files.size > 0)
        .map(([word, files]) => [word, rarityOf(files.size)]),
    )
    const all = sum(weights.keys(), weights)
    const best = new Map()
    for (const section of sections) {
      const score = likeness(section.stems, weights, rarity)
      if (score > (best.get(section.file)?.score ?? 0))
        best.set(section.file, { ...section, score })
    }
    const pages = new Set([...found.values()].flatMap((files) => [...files.keys()]))
    return [...pages].map((file) => {
      const density = Math.min(1.5, 1.2 / (0.3 + (0.7 * lengths[file]) / average))
      let score = 0
      let matched = 0
      for (const [word, weight] of weights) {
        const match = found.get(word).get(file) ?? 0
        const inTitles = asList(index.titleterms[word]).includes(file)
        const isKeyword = keywords[file].some((stems) => stems.has(word))
        const place = titles[file].has(word) ? TITLE : isKeyword ? KEYWORD : inTitles ? SECTION : 0
        score += weight * (place + match * density)
        matched += weight * match
      }
      const ofTitle = likeness(titles[file], weights, rarity)
      const ofKeyword = Math.max(
        ...[0, ...keywords[file].map((stems) => likeness(stems, weights, rarity))],
      )
      const section = best.get(file)
      const full = Math.max(FULL_TITLE * ofTitle, FULL_KEYWORD * ofKeyword)
      score += (all / Math.max(1, weights.size)) * (full + FULL_SECTION * (section?.score ?? 0))
      const group = GROUPS.find(([pattern]) => pattern.test(index.docnames[file]))?.[1] ?? 1
      return {
        file,
        section: section?.score > ofTitle ? section : undefined,
        score: score * (matched / all) ** 1.5 * group,
      }
    })
  }

  // Objects whose names contain the query. Equal names come first, and those in the same case.
  const rankObjects = (index, query) => {
    const wanted = query.trim().replace(/\(\)$/, '')
    if (!/^[\w.]+$/.test(wanted)) return []
    const lower = wanted.toLowerCase()
    const results = []
    for (const [prefix, entries] of Object.entries(index.objects))
      for (const [file, type, , anchor, name] of entries) {
        const full = prefix ? `${prefix}.${name}` : name
        const last = full.split('.').at(-1)
        const isEqual = [full, last].some((part) => part.toLowerCase() === lower)
          || full.toLowerCase().endsWith(`.${lower}`)
        const isPart = lower.length > SHORT && last.toLowerCase().includes(lower)
        if (!isEqual && !isPart) continue
        const isSameCase = full.endsWith(wanted)
        const kind = index.objnames[type]
        results.push({
          file,
          full,
          isEqual,
          anchor: anchor === '' ? full : anchor === '-' ? `${kind[1]}-${full}` : anchor,
          description: `${kind[2]}, in ${index.titles[file]}`,
          order: [isEqual ? 0 : 1, isSameCase ? 0 : 1, full.split('.').length, full.length],
        })
      }
    return results.sort((a, b) => {
      const place = a.order.findIndex((value, at) => value !== b.order[at])
      return place < 0 ? (a.full < b.full ? -1 : 1) : a.order[place] - b.order[place]
    })
  }

  // Results as Sphinx shows them, the best one first.
  const search = (index, query) => {
    const stemmer = new Stemmer()
    statistics ??= collect(index, stemmer)
    const pages = rankPages(index, wordsOf(query, stemmer))
      .filter((page) => page.score > 0)
      .sort((a, b) => b.score - a.score || (index.titles[a.file] < index.titles[b.file] ? -1 : 1))
      .map(({ file, section, score }) => {
        const title = index.titles[file]
        const isSection = section !== undefined && section.anchor !== null
        return [
          index.docnames[file],
          isSection ? `${title} > ${section.title}` : title,
          isSection ? `#${section.anchor}` : '',
          null,
          score,
          index.filenames[file],
          isSection ? SearchResultKind.title : SearchResultKind.text,
        ]
      })
    const objects = rankObjects(index, query)
    const asResult = ({ file, full, anchor, description }) => [
      index.docnames[file],
      full,
      `#${anchor}`,
      description,
      1,
      index.filenames[file],
      SearchResultKind.object,
    ]
    const isName = /[A-Z_.]/.test(query.trim())
    const first = objects.filter(({ isEqual }) => isEqual).slice(0, isName ? OBJECTS_FIRST : 1)
    return [
      ...first.map(asResult),
      ...pages,
      ...objects.filter((object) => !first.includes(object)).map(asResult),
    ]
  }

  return { search }
})()

// The wings of the documentation: the pages for services and those for agents. A result says its
// wing, and `wing=Agents` in the address leaves out the pages of the other one.
const SearchWings = (() => {
  const names = new Map(
    Object.entries(JSON.parse(document.getElementById('search-wings').textContent)).flatMap(
      ([wing, pages]) => pages.map((page) => [page, wing]),
    ),
  )
  const wings = [...new Set(names.values())]
  const chosen = new URLSearchParams(location.search).get('wing')
  // The address of a page below the root of the site, as in the list of a wing.
  const addressOf = (name) => (name === 'index' ? '' : `${name.replace(/\/index$/, '')}/`)
  const isShown = (name) => {
    const wing = names.get(addressOf(name))
    return !wings.includes(chosen) || wing === undefined || wing === chosen
  }

  const label = (item) => {
    const link = item.querySelector(':scope > a')
    const root = new URL(document.documentElement.dataset.content_root, location.href)
    const wing = link && names.get(link.href.slice(root.href.length).replace(/#.*/, ''))
    if (wing === undefined || wing === null) return
    const span = document.createElement('span')
    span.className = 'search-wing'
    span.textContent = wing
    link.after(' ', span)
  }

  const addFilter = (results) => {
    const filter = document.createElement('nav')
    filter.className = 'search-filter'
    filter.ariaLabel = 'Part of the documentation'
    for (const wing of ['All', ...wings]) {
      const link = document.createElement('a')
      const address = new URL(location.href)
      if (wing === 'All') address.searchParams.delete('wing')
      else address.searchParams.set('wing', wing)
      link.href = address.href
      link.textContent = wing
      if (wing === (wings.includes(chosen) ? chosen : 'All')) link.ariaCurrent = 'page'
      filter.append(link, ' ')
    }
    results.before(filter)
  }

  const start = () => {
    const results = document.getElementById('search-results')
    if (new URLSearchParams(location.search).get('q')) addFilter(results)
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node.nodeName === 'LI') label(node)
    }).observe(results, { childList: true, subtree: true })
  }

  return { isShown, start }
})()
SearchWings.start()

// searchtools.js takes the results from the end of the list.
Search._performSearch = (query) =>
  SearchRanking.search(Search._index, query)
    .filter(([name]) => SearchWings.isShown(name))
    .reverse()
