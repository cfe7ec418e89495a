// Scores of search results, see html_search_scorer of Sphinx. A page that answers a question comes
// first, because it is short and leads to the others, then guides and explanations, then the
// reference. All other scores are the defaults.
const AFTER_GUIDES = /^(?:reference\/|changelog$|contributing$|security$)/

var Scorer = {
  score: ([docname, , , , score]) => {
    if (docname.startsWith('questions/')) return score + 32
    return AFTER_GUIDES.test(docname) ? score : score + 12
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
}
