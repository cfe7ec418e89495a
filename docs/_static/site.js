// Code and tables that are too wide for the page can be scrolled with the keyboard.
const makeScrollable = () => {
  for (const node of document.querySelectorAll('article :is(pre, table, .table-wrapper)')) {
    if (node.scrollWidth > node.clientWidth) node.tabIndex = 0
    else node.removeAttribute('tabindex')
  }
}
addEventListener('load', makeScrollable)
addEventListener('resize', makeScrollable)
