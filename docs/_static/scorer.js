// Scores of search results, see html_search_scorer of Sphinx. A page that answers a question comes
// first, because it is short and leads to the others. All other scores are the defaults.
var Scorer = {
  score: ([docname, , , , score]) => docname.startsWith('questions/') ? score + 20 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
}
