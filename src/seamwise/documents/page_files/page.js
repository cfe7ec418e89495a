'use strict';
const query = document.getElementById('query');
const count = document.getElementById('count');
const articles = [...document.querySelectorAll('article')];

function filter() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let visible = 0;
  for (const article of articles) {
    article.hidden = !words.every((word) => article.dataset.words.includes(word));
    visible += article.hidden ? 0 : 1;
  }
  for (const section of document.querySelectorAll('section')) {
    section.hidden = !section.querySelector('article:not([hidden])');
  }
  count.textContent = words.length ? `${visible} of ${articles.length} errors` : '';
}

function openTarget() {
  let id = '';
  try {
    id = decodeURIComponent(location.hash.slice(1));
  } catch {
    // The fragment of a truncated link cannot be decoded.
  }
  const article = articles.find((candidate) => candidate.id === id);
  if (!article) return;
  if (article.hidden) {
    query.value = '';
    filter();
  }
  article.querySelector('details').open = true;
  article.querySelector('summary').focus({ preventScroll: true });
  article.scrollIntoView();
}

document.getElementById('search').hidden = false;
query.addEventListener('input', filter);
query.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  query.value = '';
  filter();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === query || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  query.focus();
});
window.addEventListener('hashchange', openTarget);
filter();
openTarget();
