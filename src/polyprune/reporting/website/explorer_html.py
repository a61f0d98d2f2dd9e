"""The controls of the page, and the places that they redraw."""

from ..results import Results

CHOICES = (
    '<div class="choices"><label class="choice" id="system-choice"><span>System</span>'
    '<select id="system"></select></label>'
    '<label class="choice" id="measure-choice"><span>Task</span>'
    '<select id="measure"></select></label></div>'
)
SLIDER = (
    '<div class="slider"><div class="slider-head"><label for="cut">How much is cut</label>'
    '<output id="cut-told" for="cut"></output></div>'
    '<input type="range" id="cut" min="0" max="1" step="1" value="0">'
    '<div id="ticks" aria-hidden="true"></div></div>'
)
LANGUAGES = (
    '<details class="chooser" id="chooser"><summary>Languages: '
    '<b id="chosen-languages"></b></summary><div class="chooser-tools">'
    '<label><span class="unseen">Search languages</span>'
    '<input type="search" id="search" placeholder="Search" autocomplete="off"></label>'
    '<button type="button" class="small" id="choose-all">All</button>'
    '<button type="button" class="small" id="choose-none">None</button></div>'
    '<div id="families"></div></details>'
)
KEPT = (
    '<div class="pane" id="kept-pane"><h3>What is kept</h3>'
    '<p class="quiet" id="kept-told"></p><div id="kept"></div></div>'
)
LOSSES = (
    '<div class="pane" id="losses-pane"><h3>What each language loses</h3>'
    '<p class="quiet" id="losses-told"></p><div id="losses"></div></div>'
)


def explorer_html(results: Results) -> str:
    """Return the controls and the places that they redraw; nothing if there are no systems."""
    if not results.systems:
        return ""
    return (
        '<section id="explore" aria-labelledby="explore-title">'
        '<h2 id="explore-title">Explore</h2>'
        f"{CHOICES}{SLIDER}{LANGUAGES if results.languages else ''}"
        '<p id="told" aria-live="polite"></p>'
        '<ul id="tiles" class="tiles" aria-label="Size and speed"></ul>'
        f'<div class="panes">{LOSSES if results.scores else ""}{KEPT if results.kept else ""}'
        "</div></section>"
    )


def map_html(results: Results) -> str:
    """Return the place of the map, which draws languages with similar subnetworks together."""
    if not any(len(each.languages) > 2 for each in results.distances):
        return ""
    return (
        '<section id="map" aria-labelledby="map-title"><h2 id="map-title">Languages by similarity'
        '</h2><p class="quiet" id="map-told"></p><figure class="figure" id="map-figure">'
        '<div class="panels"></div><figcaption>Languages are near each other where pruning keeps '
        "the same components for them: distances in the plane are about the share of gates that "
        "differ (classical scaling).</figcaption></figure></section>"
    )
